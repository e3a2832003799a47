//! `result-shape`.

declare! {
    /// A result has the shape of a tool result.
    ///
    /// ## What it does
    ///
    /// Asks for a JSON object whose `content` is an array and whose `isError`, if there is one, is a boolean.
    /// A result that asks for input or stands for a task is not judged.
    ///
    /// ## Why is this bad
    ///
    /// Clients that parse results strictly throw the whole answer away.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "content": "done" }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "content": [{ "type": "text", "text": "done" }] }
    /// ```
    RESULT_SHAPE = "result-shape", Error
}
