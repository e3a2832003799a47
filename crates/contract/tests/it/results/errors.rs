//! Errors with structured content.
use libtest_mimic::Trial;
pub(crate) fn trial() -> Trial {
    Trial::test("results/errors", || Ok(()))
}
