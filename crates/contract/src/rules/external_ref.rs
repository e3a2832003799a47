//! `external-ref`.

declare! {
    /// References stay within their schema.
    ///
    /// ## What it does
    ///
    /// Refuses `$ref` and `$dynamicRef` that resolve to anything but a place in the same document.
    ///
    /// ## Why is this bad
    ///
    /// The protocol forbids fetching what a schema refers to; a client that does can be led to internal
    /// addresses. Without the target the schema has no meaning.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "user": { "$ref": "https://example.com/user.json" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "user": { "$ref": "#/$defs/user" } },
    ///   "$defs": { "user": { "type": "object" } }
    /// }
    /// ```
    EXTERNAL_REF = "external-ref", Error
}
