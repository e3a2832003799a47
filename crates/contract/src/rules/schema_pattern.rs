//! `schema-pattern`.

declare_rule! {
    /// A pattern is not a valid regular expression.
    ///
    /// ## What it does
    ///
    /// Compiles every `pattern` and every name in `patternProperties` as ECMA-262 defines them.
    ///
    /// ## Why is this bad
    ///
    /// Some validators skip an invalid pattern and others refuse the schema, so whether a call works depends on the
    /// client.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string", "pattern": "(?P<id>[0-9]+" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string", "pattern": "(?<id>[0-9]+)" } } }
    /// ```
    pub SCHEMA_PATTERN = "schema-pattern", Error
}
