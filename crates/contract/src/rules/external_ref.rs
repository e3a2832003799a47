//! `external-ref`.

declare_rule! {
    /// A reference leads out of its schema.
    ///
    /// ## What it does
    ///
    /// Refuses a `$ref` or `$dynamicRef` to another document.
    ///
    /// ## Why is this bad
    ///
    /// The protocol forbids clients to fetch references: a server could make them connect to internal addresses.
    /// Without its target the schema has no meaning.
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
    ///
    /// `toolbond bundle --flat --allow https://example.com/ tools.json` writes this for you: it fetches what you allow
    /// and embeds it. `toolbond guard --allow-fetch https://example.com/` does so for the clients of a server.
    pub EXTERNAL_REF = "external-ref", Error
}
