//! `schema-invalid`.

declare_rule! {
    /// A schema breaks the rules of its dialect.
    ///
    /// ## What it does
    ///
    /// Checks a schema against the metaschema of the dialect it names in `$schema`, or of 2020-12.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it, model APIs refuse the whole request if one schema is invalid, and validators
    /// disagree about what it means.
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
    pub SCHEMA_INVALID = "schema-invalid", Error
}
