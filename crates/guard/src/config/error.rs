//! Errors in a configuration file, with their position.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error in a configuration file: one line that starts with the file and the position.
#[derive(Debug)]
pub struct ConfigError {
    /// The file.
    pub(super) path: PathBuf,
    /// Line and column, both from 1.
    pub(super) place: Option<(usize, usize)>,
    /// What is wrong.
    pub(super) message: String,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl ConfigError {
    pub(super) fn unread(path: &Path, error: &io::Error) -> Self {
        Self { path: path.to_owned(), place: None, message: error.to_string() }
    }

    /// An error at byte `at` of `text`.
    pub(super) fn at(path: &Path, text: &str, at: usize, message: impl Into<String>) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { path: path.to_owned(), place: Some((line, column)), message: message.into() }
    }

    pub(super) fn toml(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        if is_of_client(text) {
            let message = format!(
                "this is the configuration of an MCP client; `toolbond wrap --file {}` puts the guard in front of the servers in it",
                path.display()
            );
            return Self { path: path.to_owned(), place: None, message };
        }
        let at = error.span().map_or(0, |span| span.start);
        Self::at(path, text, at, explain(error.message()))
    }
}

/// Whether a text that is not TOML looks like the configuration of an MCP client, which may have comments.
fn is_of_client(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_json = text.starts_with('{') || text.starts_with("//") || text.starts_with("/*");
    is_json && (text.contains("\"mcpServers\"") || text.contains("\"servers\""))
}

/// Rewrites a message of the parser as one line, and suggests the name that was probably meant.
fn explain(message: &str) -> String {
    let said = message.lines().collect::<Vec<_>>().join(", ");
    let said = said.replacen("unknown field", "unknown key", 1);
    let said = said.replacen("missing field", "missing key", 1);
    let said = said.replacen("unknown variant", "unknown value", 1);
    let is_name = said.starts_with("unknown ") || said.starts_with("no limit ");
    // Names stand between backticks, or after the last `expected one of`.
    let names: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    let Some((found, expected)) = names.split_first().filter(|_| is_name) else { return said };
    let listed = said.rsplit("expected one of ").next().unwrap_or_default().split(", ");
    let nearest = expected
        .iter()
        .copied()
        .chain(listed.filter(|name| !name.contains('`')))
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((distance, name)) if distance <= 1 + found.chars().count() / 4 => {
            format!("{said}; did you mean `{name}`?")
        }
        _ => said,
    }
}
