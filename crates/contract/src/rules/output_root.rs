//! `output-root`.

declare_rule! {
    /// An output schema is neither a JSON object nor a boolean.
    ///
    /// ## What it does
    ///
    /// Refuses `null`, numbers, strings and arrays as `outputSchema`. The tool stays, without its output
    /// schema.
    ///
    /// ## Why is this bad
    ///
    /// Such a value is not a schema in any dialect. Clients that parse the list as a whole lose every tool
    /// in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "now", "inputSchema": { "type": "object" }, "outputSchema": null }
    /// ```
    ///
    /// ## Use instead
    ///
    /// Leave `outputSchema` out.
    pub OUTPUT_ROOT = "output-root", Error
}
