//! What a validation comes to.

use crate::Violations;

/// The end of one validation.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Verdict {
    /// The instance keeps every rule of the schema.
    Valid,
    /// The instance breaks at least one rule of the schema.
    Invalid(Violations),
    /// A limit ended the validation before it was decided. Never take this for valid.
    Unfinished(Unfinished),
}

impl Verdict {
    /// Whether the instance is known to keep every rule.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }
}

/// The limit that ended a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// More steps than [`Limits::fuel`](crate::Limits::fuel).
    #[error("validation stopped after {limit} steps, the limit of its fuel")]
    Fuel {
        /// The limit.
        limit: u64,
    },
    /// More nested containers than [`Limits::instance_depth`](crate::Limits::instance_depth).
    #[error(
        "validation stopped at {found} nested levels of the instance, more than the limit of {limit}"
    )]
    InstanceDepth {
        /// The level reached.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// More keywords inside of each other than [`Limits::nesting`](crate::Limits::nesting).
    #[error("validation would go {found} keywords deep, more than the limit of {limit}")]
    Nesting {
        /// How deep the schema can go on this instance.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A regular expression with look-around or back-references took too many turns.
    #[error("validation stopped: a pattern went back more than {limit} times")]
    Backtracking {
        /// The limit.
        limit: usize,
    },
    /// The engine failed on this instance.
    #[error("validation stopped: the engine failed on this instance")]
    Engine,
}
