//! `[lint]`: what `toolbond lint` checks, and what fails it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// Options of `toolbond lint`. Those on its command line come first.
///
/// ```
/// use toolbond_guard::config::{FailOn, LintConfig};
///
/// let text = "[lint]\ntargets = ['gemini']\nfail-on = 'error'";
/// let lint = LintConfig::parse("toolbond.toml".as_ref(), text)?;
/// assert_eq!(lint.targets, Some(vec!["gemini".to_owned()]));
/// assert_eq!(lint.fail_on, Some(FailOn::Error));
/// # Ok::<(), toolbond_guard::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LintConfig {
    /// The targets to check against: names that `toolbond targets` lists, `all` or `none` (default: the most used ones).
    pub targets: Option<Vec<String>>,
    /// Report only these rules. Errors of the protocol are always reported.
    pub select: Vec<String>,
    /// Do not report these rules. Errors of the protocol cannot be ignored.
    pub ignore: Vec<String>,
    /// The least severity that fails the check (default: warning).
    pub fail_on: Option<FailOn>,
    /// The file with the known findings, relative to the folder of this file.
    pub baseline: Option<PathBuf>,
}

/// The least severity of a finding that fails `toolbond lint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Only errors.
    Error,
    /// Warnings and errors.
    #[default]
    Warning,
    /// All findings.
    Info,
    /// Nothing.
    Never,
}
