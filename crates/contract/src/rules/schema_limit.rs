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
    /// Thirty definitions that each refer to the next one twice: one value is visited a billion times.
    ///
    /// ## Use instead
    ///
    /// Split the tool, share definitions instead of nesting them, or raise the limit for servers you trust.
    SCHEMA_LIMIT = "schema-limit", Error
}
