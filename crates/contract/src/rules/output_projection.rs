//! `output-projection`.

declare! {
    /// An output schema can be carried to clients of older revisions.
    ///
    /// ## What it does
    ///
    /// Looks for what cannot be projected without changing its meaning: a dialect that is not known, more than
    /// 256 nested levels, or a value that is data in one place and, by a reference, a schema in another.
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
