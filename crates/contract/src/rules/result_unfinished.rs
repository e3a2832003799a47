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
    /// A list of a million objects for a schema with `uniqueItems`.
    ///
    /// ## Use instead
    ///
    /// Smaller results, a simpler schema, or more fuel for servers you trust.
    RESULT_UNFINISHED = "result-unfinished", Error
}
