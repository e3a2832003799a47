//! `output-projection`.

declare! {
    /// An output schema can be carried to clients of older revisions.
    ///
    /// ## What it does
    ///
    /// Looks for what cannot be projected without changing its meaning: a dialect that is not known, or a value
    /// that is data in one place and, by a reference, a schema in another. And for what would be too large: more
    /// than 256 nested levels, or 120 once projected; pointers to all its places of more than 64 MiB together;
    /// names and references that resolve to URIs of more than 16 MiB together.
    ///
    /// ## Why is this bad
    ///
    /// Clients of revisions before 2026-07-28 take only output schemas whose root says `type: "object"`. A schema
    /// that cannot be brought into that shape would make such a client refuse the whole list, so the tool goes to
    /// it without its output schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "tree",
    ///   "inputSchema": { "type": "object" },
    ///   "outputSchema": { "$ref": "#/default", "default": { "type": "array", "items": { "$ref": "#" } } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "tree",
    ///   "inputSchema": { "type": "object" },
    ///   "outputSchema": {
    ///     "$ref": "#/$defs/list",
    ///     "$defs": { "list": { "type": "array", "items": { "$ref": "#" } } }
    ///   }
    /// }
    /// ```
    OUTPUT_PROJECTION = "output-projection", Warning
}
