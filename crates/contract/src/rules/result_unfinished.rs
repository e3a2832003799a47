//! `result-unfinished`.

declare! {
    /// Structured content can be checked within the budget.
    ///
    /// ## What it does
    ///
    /// Reports a validation that a limit ended before it was decided. That is never taken for valid: under
    /// `enforce` a tool error of its own takes the place of the result.
    ///
    /// ## Why is this bad
    ///
    /// Whether the result is right is not known.
    ///
    /// ## Example
    ///
    /// A pattern that has to go back at each character:
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "string", "pattern": "^((?=a)a|aa)+$" },
    ///   "result": { "content": [], "structuredContent": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// A simpler schema, smaller results, or more fuel for servers you trust:
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "string", "pattern": "^a+$" },
    ///   "result": { "content": [], "structuredContent": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" }
    /// }
    /// ```
    RESULT_UNFINISHED = "result-unfinished", Error
}
