//! `arguments-unfinished`.

declare! {
    /// Arguments can be checked within the budget.
    ///
    /// ## What it does
    ///
    /// Reports a validation that a limit ended before it was decided. That is never taken for valid: under
    /// `enforce` the call is answered with a tool error of its own.
    ///
    /// ## Why is this bad
    ///
    /// Whether the arguments are right is not known.
    ///
    /// ## Example
    ///
    /// A string of a megabyte for a pattern that has to go back at each character.
    ///
    /// ## Use instead
    ///
    /// Smaller arguments, a simpler schema, or more fuel for servers you trust.
    ARGUMENTS_UNFINISHED = "arguments-unfinished", Error
}
