//! Why a text is not an instance.

/// Why a text cannot be parsed, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
#[non_exhaustive]
pub struct InstanceError {
    /// The byte of the text at which parsing stopped.
    pub offset: usize,
    /// What is wrong.
    pub kind: InstanceErrorKind,
}

/// What can be wrong with the text of an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceErrorKind {
    /// Not JSON.
    #[error("expected {expected}")]
    Syntax {
        /// What JSON has there.
        expected: &'static str,
    },
    /// An object has the same member twice.
    #[error("duplicate member `{name}`")]
    Duplicate {
        /// The name of the member, cut to 60 characters.
        name: String,
    },
    /// Too many nested arrays and objects.
    #[error("more than {limit} nested arrays and objects")]
    Depth {
        /// The most that are parsed.
        limit: usize,
    },
    /// A number that a double cannot hold.
    #[error("number out of range")]
    NumberOutOfRange,
    /// A text of more than 4 GiB.
    #[error("{found} bytes exceed the limit of {limit}")]
    Length {
        /// How long it is.
        found: usize,
        /// The longest text that is parsed.
        limit: usize,
    },
}
