//! What to do with tools and calls that break a contract.

use std::{fmt, str::FromStr};

use crate::Side;

/// What to do with a tool that is not usable.
///
/// ```
/// use toolbond_contract::Policy;
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
    /// Drop the tool.
    #[default]
    Filter,
    /// Repair the tool if that does not change its meaning, else drop it.
    Repair,
    /// Refuse the whole list.
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

/// What to do with a call whose arguments or result break the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Check nothing.
    Off,
    /// Report it.
    Warn,
    /// Repair arguments and results that can mean only one thing. Answer other arguments with a tool error, and report
    /// other results.
    Repair,
    /// Answer with a tool error.
    Enforce,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Off, Self::Warn, Self::Repair, Self::Enforce];

    /// Whether arguments that break the contract are answered with a tool error.
    #[must_use]
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Repair | Self::Enforce)
    }

    /// Whether what breaks the contract on `side` is answered with a tool error. [`Mode::Repair`] withholds no result.
    ///
    /// ```
    /// use toolbond_contract::{Mode, Side};
    ///
    /// assert!(Mode::Repair.refuses_on(Side::Arguments));
    /// assert!(!Mode::Repair.refuses_on(Side::Result));
    /// ```
    #[must_use]
    pub const fn refuses_on(self, side: Side) -> bool {
        match side {
            Side::Result | Side::Output => matches!(self, Self::Enforce),
            Side::Arguments | Side::Input => self.refuses(),
        }
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

/// An unknown name of a [`Policy`] or [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {expected}, found `{found}`")]
#[non_exhaustive]
pub struct UnknownName {
    /// The known names.
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
