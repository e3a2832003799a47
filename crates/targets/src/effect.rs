//! What happens to a tool.

use std::fmt;

use serde::Serialize;
use toolbond_contract::Severity;

/// What happens to a tool that breaks a rule of a target, from harmless to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Effect {
    /// The model sees less: a shortened description, a name that was changed.
    Degraded,
    /// The model does not see a constraint, and may break it.
    ConstraintLost,
    /// Valid calls cannot be made or are refused.
    CallFails,
    /// The target leaves the tool out.
    ToolLost,
    /// The request fails, with all tools in it.
    RequestFails,
}

impl Effect {
    /// All effects, from harmless to worst.
    pub const ALL: [Self; 5] =
        [Self::Degraded, Self::ConstraintLost, Self::CallFails, Self::ToolLost, Self::RequestFails];

    /// The severity of a finding with this effect.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::Degraded | Self::ConstraintLost => Severity::Info,
            Self::CallFails | Self::ToolLost | Self::RequestFails => Severity::Error,
        }
    }

    /// What happens, in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Degraded => "the model sees less",
            Self::ConstraintLost => "a constraint is lost",
            Self::CallFails => "valid calls fail",
            Self::ToolLost => "the tool is left out",
            Self::RequestFails => "the whole request fails",
        }
    }
}

/// The name of the effect, in kebab case.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Degraded => "degraded",
            Self::ConstraintLost => "constraint-lost",
            Self::CallFails => "call-fails",
            Self::ToolLost => "tool-lost",
            Self::RequestFails => "request-fails",
        })
    }
}
