//! `schema-pattern`.

declare! {
    /// Patterns are regular expressions that can be compiled.
    ///
    /// ## What it does
    ///
    /// Compiles every `pattern` and every name in `patternProperties` as ECMA-262 defines them.
    ///
    /// ## Why is this bad
    ///
    /// A pattern that one validator skips and the next one refuses makes a call depend on the client.
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
    SCHEMA_PATTERN = "schema-pattern", Error
}
