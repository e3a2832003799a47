//! The syntaxes of configurations, and texts that break them.

use std::path::Path;

/// The syntax of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

impl Syntax {
    /// The syntax of the file at `path`, by its extension.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        if path.extension().is_some_and(|it| it == "toml") { Self::Toml } else { Self::Json }
    }
}

/// A text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: invalid {}: {message}", match syntax { Syntax::Json => "JSON", Syntax::Toml => "TOML" })]
#[non_exhaustive]
pub struct ParseError {
    /// The syntax that was expected.
    pub syntax: Syntax,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    pub(super) fn at(syntax: Syntax, text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { syntax, line, column, message }
    }
}
