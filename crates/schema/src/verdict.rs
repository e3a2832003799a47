//! The result of a validation.

use crate::Violations;

/// The result of a validation.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Verdict {
    /// The instance is valid.
    Valid,
    /// The instance violates the schema.
    Invalid(Violations),
    /// A limit stopped the validation. Never treat this as valid.
    Unfinished(Unfinished),
}

impl Verdict {
    /// Whether the instance is valid. An unfinished validation is not.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// Converts the verdict to a `Result`, for `?`.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use toolbond_schema::{NotValid, Schema};
    ///
    /// fn check(schema: &Schema, instance: &Value) -> Result<(), NotValid> {
    ///     schema.validate(instance).into_result()?;
    ///     Ok(())
    /// }
    ///
    /// let schema = Schema::compile(&json!({ "type": "integer" }))?;
    /// assert!(check(&schema, &json!(1)).is_ok());
    /// let error = check(&schema, &json!("1")).unwrap_err();
    /// assert_eq!(error.to_string(), "#: expected integer, found string \"1\"");
    /// # Ok::<(), toolbond_schema::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the verdict is not [`Verdict::Valid`].
    pub fn into_result(self) -> Result<(), NotValid> {
        match self {
            Self::Valid => Ok(()),
            Self::Invalid(violations) => Err(NotValid::Invalid(violations)),
            Self::Unfinished(unfinished) => Err(NotValid::Unfinished(unfinished)),
        }
    }
}

/// A [`Verdict`] other than [`Verdict::Valid`], as an error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotValid {
    /// The instance violates the schema.
    #[error("{0}")]
    Invalid(Violations),
    /// A limit stopped the validation.
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
}

/// The limit that stopped a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// The validation needs more fuel than [`Limits::fuel`](crate::Limits::fuel).
    #[error("validation stopped after {limit} steps, the limit of its fuel")]
    Fuel {
        /// The limit.
        limit: u64,
    },
    /// The instance is nested more deeply than [`Limits::instance_depth`](crate::Limits::instance_depth).
    #[error(
        "validation stopped at {found} nested levels of the instance, more than the limit of {limit}"
    )]
    InstanceDepth {
        /// The level reached.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// More keywords apply inside each other than [`Limits::nesting`](crate::Limits::nesting).
    #[error("validation would go {found} keywords deep, more than the limit of {limit}")]
    Nesting {
        /// How deep the schema can go on this instance.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A regular expression with look-around or back-references backtracked too often.
    #[error("validation stopped: a pattern went back more than {limit} times")]
    Backtracking {
        /// The limit.
        limit: usize,
    },
    /// The engine failed on this instance.
    #[error("validation stopped: the engine failed on this instance")]
    Engine,
}

impl Unfinished {
    /// Returns the name of the limit (one of [`Limits::NAMES`](crate::Limits::NAMES)), if it can be set.
    #[must_use]
    pub const fn limit(&self) -> Option<&'static str> {
        match self {
            Self::Fuel { .. } => Some("fuel"),
            Self::InstanceDepth { .. } => Some("instance-depth"),
            Self::Nesting { .. } => Some("nesting"),
            Self::Backtracking { .. } | Self::Engine => None,
        }
    }
}
