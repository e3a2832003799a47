//! The list of targets.

pub(super) use super::tables::ALL;

/// The names of the most used ones.
pub(super) static DEFAULT: &[&str] = &[
    "openai",
    "anthropic",
    "gemini",
    "claude-code",
    "claude-desktop",
    "codex",
    "vscode",
    "cursor",
];
