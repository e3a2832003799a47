//! What a piece of code allocates, counted and not measured, so that it is the same on every machine.

/// Runs `code`, and returns the most bytes that it had allocated at a time on this thread.
pub(crate) fn taken_by<T>(code: impl FnOnce() -> T) -> (T, u64) {
    let mut outcome = None;
    let counts = allocation_counter::measure(|| outcome = Some(code()));
    (outcome.expect("the code has run"), counts.bytes_max)
}
