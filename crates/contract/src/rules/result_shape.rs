//! `result-shape`.

declare! {
    /// A result has the shape of a tool result.
    ///
    /// ## What it does
    ///
    /// Asks for a JSON object whose `content`, if there is one, is an array and whose `isError`, if there is one,
    /// is a boolean.
    ///
    /// ## Why is this bad
    ///
    /// Clients that parse results strictly throw the whole answer away.
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
    RESULT_SHAPE = "result-shape", Error
}
