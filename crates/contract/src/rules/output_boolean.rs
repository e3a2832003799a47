//! `output-boolean`.

declare_rule! {
    /// An output schema is a boolean.
    ///
    /// ## What it does
    ///
    /// Writes `true` as `{}` and `false` as `{"not": {}}`, which mean the same in every dialect.
    ///
    /// ## Why is this bad
    ///
    /// JSON Schema allows boolean schemas, but the protocol's own types describe `outputSchema` as an object,
    /// and clients that follow them refuse the list.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "anything", "inputSchema": { "type": "object" }, "outputSchema": true }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "anything", "inputSchema": { "type": "object" }, "outputSchema": {} }
    /// ```
    pub OUTPUT_BOOLEAN = "output-boolean", Info
}
