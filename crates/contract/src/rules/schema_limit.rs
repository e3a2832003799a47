//! `schema-limit`.

declare! {
    /// A schema stays within the limits of admission.
    ///
    /// ## What it does
    ///
    /// Bounds nesting, subschemas, bytes, the size of patterns and how often one place of a value can be
    /// visited. The message names the limit, what was found, and what is allowed.
    ///
    /// ## Why is this bad
    ///
    /// A schema comes from whoever wrote the server. Without bounds a small one can keep every client that
    /// validates with it busy for hours.
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
    SCHEMA_LIMIT = "schema-limit", Error
}
