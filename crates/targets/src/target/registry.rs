//! The list of targets.

use super::Target;

/// All targets.
pub(super) static ALL: &[&Target] = &[&super::gemini::TARGET];

/// The names of the most used ones.
pub(super) static DEFAULT: &[&str] = &["gemini"];
