//! How strictly to judge.

use std::{fmt, str::FromStr};

/// What becomes of a tool list with a tool that cannot be used.
///
/// ```
/// use toolpact_contract::Policy;
///
/// assert_eq!("repair".parse(), Ok(Policy::Repair));
/// assert_eq!(
///     "fix".parse::<Policy>().unwrap_err().to_string(),
///     "expected one of filter, repair, reject, found `fix`"
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// The tool is dropped, the others stay.
    #[default]
    Filter,
    /// What can be mended without changing its meaning is mended; what cannot is dropped.
    Repair,
    /// The whole list is refused.
    Reject,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Filter, Self::Repair, Self::Reject];
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filter => "filter",
            Self::Repair => "repair",
            Self::Reject => "reject",
        })
    }
}

impl FromStr for Policy {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named(&Self::ALL, name)
    }
}

/// What becomes of a call whose arguments or result break the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Nothing is checked.
    Off,
    /// It passes and is reported.
    Warn,
    /// Arguments that can only mean one thing are repaired; others are answered with a tool error. For results this is
    /// the same as [`Mode::Enforce`].
    Repair,
    /// A tool error takes its place.
    Enforce,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Off, Self::Warn, Self::Repair, Self::Enforce];

    /// Whether a call that breaks the contract is answered with a tool error.
    #[must_use]
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Repair | Self::Enforce)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Repair => "repair",
            Self::Enforce => "enforce",
        })
    }
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named(&Self::ALL, name)
    }
}

/// A name that is none of those expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {expected}, found `{found}`")]
#[non_exhaustive]
pub struct UnknownName {
    /// The names there are.
    pub expected: String,
    /// The name given.
    pub found: String,
}

fn named<T: Copy + fmt::Display>(all: &[T], name: &str) -> Result<T, UnknownName> {
    all.iter().copied().find(|one| one.to_string() == name).ok_or_else(|| UnknownName {
        expected: all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        found: name.to_owned(),
    })
}

/// Settings for [`judge_tools`](crate::judge_tools).
///
/// ```
/// use toolpact_contract::{JudgeOptions, Policy};
///
/// let options = JudgeOptions::default().policy(Policy::Repair).ignore_headers(true);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JudgeOptions {
    pub(crate) policy: Policy,
    pub(crate) ignore_headers: bool,
    pub(crate) schema: toolpact_schema::Options,
}

impl JudgeOptions {
    /// What becomes of a list with a tool that cannot be used ([`Policy::Filter`] unless set).
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Whether a wrong `x-mcp-header` annotation is a warning only. Clients on Streamable HTTP must
    /// leave such a tool out, which is the default; clients on other transports may ignore it.
    #[must_use]
    pub fn ignore_headers(mut self, yes: bool) -> Self {
        self.ignore_headers = yes;
        self
    }

    /// How schemas are compiled.
    #[must_use]
    pub fn schema(mut self, options: toolpact_schema::Options) -> Self {
        self.schema = options;
        self
    }
}
