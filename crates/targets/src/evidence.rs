//! How a rule of a target is known.

use std::fmt;

use serde::Serialize;

/// How a rule of a target was established, where, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Evidence {
    /// How the rule was established.
    pub how: Established,
    /// The package and version, the document, or the report.
    pub source: &'static str,
    /// The day on which the source was read or run.
    pub date: &'static str,
    /// The converter or host that tests run, by its name there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converter: Option<&'static str>,
    /// The versions of the target to which the rule applies, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<&'static str>,
}

impl Evidence {
    /// The converter `name` of the package `source` shows it, and tests run it.
    #[must_use]
    pub const fn converter(name: &'static str, source: &'static str) -> Self {
        Self { converter: Some(name), ..Self::new(Established::Converter, source, "2026-11-17") }
    }

    /// A run of the host `name`, the package `source`, shows it, and tests run it.
    #[must_use]
    pub const fn host(name: &'static str, source: &'static str) -> Self {
        Self { converter: Some(name), ..Self::new(Established::Host, source, "2026-11-18") }
    }

    /// The source code shows it.
    #[must_use]
    pub const fn source(source: &'static str, date: &'static str) -> Self {
        Self::new(Established::Source, source, date)
    }

    /// The target documents it.
    #[must_use]
    pub const fn documented(source: &'static str, date: &'static str) -> Self {
        Self::new(Established::Documented, source, date)
    }

    /// Users report it.
    #[must_use]
    pub const fn reported(source: &'static str, date: &'static str) -> Self {
        Self::new(Established::Reported, source, date)
    }

    /// The same, for these versions of the target only.
    #[must_use]
    pub const fn versions(mut self, versions: &'static str) -> Self {
        self.versions = Some(versions);
        self
    }

    const fn new(how: Established, source: &'static str, date: &'static str) -> Self {
        Self { how, source, date, converter: None, versions: None }
    }
}

/// How a rule was established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Established {
    /// Users report it. Findings are warnings at most.
    Reported,
    /// The target documents it.
    Documented,
    /// It was read in the source code of the target.
    Source,
    /// Tests run the converter that the target publishes.
    Converter,
    /// Tests run the host, with a scripted model that keeps what it is offered.
    Host,
}

impl fmt::Display for Established {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reported => "reported",
            Self::Documented => "documented",
            Self::Source => "source read",
            Self::Converter => "converter run",
            Self::Host => "host run",
        })
    }
}
