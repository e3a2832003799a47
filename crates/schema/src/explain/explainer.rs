//! What explains the errors of one validation.

use serde_json::Value;

use super::hint::Speller;
use crate::{Violation, source::Source};

/// Turns errors of the engine into violations.
pub(crate) struct Explainer<'a> {
    pub(super) instance: &'a Value,
    pub(super) source: Source<'a>,
    pub(super) most: usize,
    pub(super) list: Vec<Violation>,
    pub(super) omitted: bool,
    pub(super) speller: Speller,
}
