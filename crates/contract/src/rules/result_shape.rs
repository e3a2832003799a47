//! `result-shape`.

declare_rule! {
    /// A result does not have the shape of a tool result.
    ///
    /// ## What it does
    ///
    /// Requires a JSON object. Its `content`, if present, is an array, and its `isError`, if present, a boolean.
    ///
    /// ## Why is this bad
    ///
    /// Clients that parse results strictly reject the whole answer.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "result": { "content": "done" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "result": { "content": [{ "type": "text", "text": "done" }] } }
    /// ```
    pub RESULT_SHAPE = "result-shape", Error
}
