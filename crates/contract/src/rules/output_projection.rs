//! `output-projection`.

declare_rule! {
    /// An output schema cannot be converted for clients of older revisions.
    ///
    /// ## What it does
    ///
    /// Warns about schemas that cannot be converted without changing their meaning: schemas of an unknown dialect,
    /// and schemas that refer to data, such as a `default`, as a schema. Also warns about schemas that are too large:
    /// more than 256 nested levels, or 120 after conversion; more than 64 MiB of pointers to all places; more than
    /// 16 MiB of resolved URIs.
    ///
    /// ## Why is this bad
    ///
    /// Clients of revisions before 2026-07-28 accept only output schemas whose root says `type: "object"`. Any other
    /// schema would make such a client refuse the whole list, so it gets the tool without its output schema.
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
    pub OUTPUT_PROJECTION = "output-projection", Warning
}
