//! `schema-limit`.

declare_rule! {
    /// A schema exceeds a limit.
    ///
    /// ## What it does
    ///
    /// Limits nesting, subschemas, bytes, the size of patterns and how often one place of a value can be
    /// visited. The message says what was found and what is allowed.
    ///
    /// ## Why is this bad
    ///
    /// Anyone can write a server. Without limits a small schema can keep every client that validates with it busy
    /// for hours.
    ///
    /// ## Example
    ///
    /// A pattern that compiles to a million states:
    ///
    /// ```json
    /// { "type": "string", "pattern": "^([a-z]{1000}){1000}$" }
    /// ```
    ///
    /// ## Use instead
    ///
    /// A smaller schema: share definitions instead of nesting them, bound lengths outside of patterns, split the
    /// tool; or raise the limit for servers you trust.
    ///
    /// ```json
    /// { "type": "string", "pattern": "^[a-z]*$", "maxLength": 1000000 }
    /// ```
    pub SCHEMA_LIMIT = "schema-limit", Error
}
