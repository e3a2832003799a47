//! The formats of `toolbond lint`.

use std::io::{self, Write};

use clap::ValueEnum;

use super::{Report, concise, full, github, gitlab, json, junit, markdown, sarif};

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people: what happens to which tool at which target, and the findings by rule
    #[default]
    Full,
    /// One line per finding, which starts with `file:line:column`
    Concise,
    /// JSON, one object per list and line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands that become annotations in GitHub Actions
    Github,
    /// A code quality report of GitLab
    Gitlab,
    /// `JUnit` XML: a test case per tool
    Junit,
    /// Markdown, for a step summary or a comment
    Markdown,
}

impl LintFormat {
    /// Writes `report` in this format.
    pub(crate) fn write(self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Full => full::write(report, out),
            Self::Concise => concise::write(report, out),
            Self::Json => json::write(report, out),
            Self::Sarif => sarif::write(report, out),
            Self::Github => github::write(report, out),
            Self::Gitlab => gitlab::write(report, out),
            Self::Junit => junit::write(report, out),
            Self::Markdown => markdown::write(report, out),
        }
    }

    /// Whether the format says which entries of the baseline no longer occur.
    pub(crate) const fn has_stale_entries(self) -> bool {
        !matches!(self, Self::Sarif | Self::Gitlab)
    }

    /// Whether programs read the format, so that nothing may be removed from it.
    pub(crate) const fn is_for_programs(self) -> bool {
        matches!(self, Self::Json | Self::Sarif | Self::Gitlab | Self::Junit)
    }
}
