//! `schema-invalid`.

declare! {
    /// A schema keeps the rules of its own dialect.
    ///
    /// ## What it does
    ///
    /// Checks a schema against the metaschema of the dialect it names in `$schema`, or of 2020-12.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it, model APIs refuse a whole request over one such tool, and no validator can
    /// say what the schema means.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tab": { "type": "str" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tab": { "type": "string" } } }
    /// ```
    SCHEMA_INVALID = "schema-invalid", Error
}
