//! How results are judged.

use crate::Mode;

/// How the result of a call is judged. A [`Mode`] is enough where nothing may be deleted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResultTerms {
    /// What becomes of an invalid result.
    pub mode: Mode,
    /// Whether a repair may leave out a `null`. That is for a client that would refuse the result with it.
    pub deletes: bool,
}

impl From<Mode> for ResultTerms {
    fn from(mode: Mode) -> Self {
        Self { mode, deletes: false }
    }
}

impl ResultTerms {
    /// These terms, where a repair may leave out a `null` or not.
    #[must_use]
    pub const fn deletes(mut self, yes: bool) -> Self {
        self.deletes = yes;
        self
    }
}
