//! `result-unfinished`.

declare_rule! {
    /// Structured content cannot be checked within the budget.
    ///
    /// ## What it does
    ///
    /// Reports a validation that a limit stopped. An unfinished validation never counts as valid: under
    /// `enforce` a tool error replaces the result.
    ///
    /// ## Why is this bad
    ///
    /// Nobody knows whether the result is valid.
    ///
    /// ## Example
    ///
    /// A pattern that backtracks at each character:
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
    pub RESULT_UNFINISHED = "result-unfinished", Error
}
