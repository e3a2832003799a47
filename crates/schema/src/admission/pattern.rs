//! What the regular expressions of a schema cost to compile and to match.

use std::collections::HashSet;

use super::survey::{Pattern, Survey};
use crate::{
    Limits, SchemaError, SchemaErrorKind,
    engine::{HardPattern, HardPatterns, activity, states},
};

/// What was found.
pub(crate) struct Patterns {
    /// What all of them compile to, in states.
    pub(crate) states: usize,
    /// States that the matcher of the widest pattern can be in at once.
    pub(crate) widest: usize,
    /// The patterns that need a backtracking matcher.
    pub(crate) hard: HardPatterns,
    /// Whether one of them stands in `patternProperties`.
    pub(crate) hard_names: bool,
}

/// Checks every pattern of the survey.
pub(crate) fn check(survey: &Survey<'_>, limits: &Limits) -> Result<Patterns, SchemaError> {
    let hard = HardPatterns::default();
    let mut found = Patterns { states: 0, widest: 0, hard, hard_names: false };
    let mut seen = HashSet::new();
    let mut total = 0_usize;
    for Pattern { place, source, names } in survey.patterns.iter().copied() {
        let refuse = |kind| SchemaError {
            pointer: if names {
                survey.pointer(place).join("patternProperties").join(source)
            } else {
                survey.pointer(place).join("pattern")
            },
            kind,
        };
        if source.len() > limits.pattern_bytes {
            let kind =
                SchemaErrorKind::PatternBytes { found: source.len(), limit: limits.pattern_bytes };
            return Err(refuse(kind));
        }
        if !seen.insert(source) {
            if names && let Some(pattern) = found.hard.find_mut(source) {
                pattern.names = true;
                found.hard_names = true;
            }
            continue;
        }
        // Translating parses the pattern again for each escape in it.
        let escapes = source.bytes().filter(|byte| *byte == b'\\').count();
        total = total.saturating_add(escapes * source.len() / 4);
        if total > limits.pattern_states {
            return Err(refuse(too_many(total, limits)));
        }
        let invalid = || SchemaErrorKind::Pattern { pattern: source.chars().take(60).collect() };
        let translated = jsonschema_regex::to_rust_regex(source).map_err(|()| refuse(invalid()))?;
        if let Ok(hir) = regex_syntax::parse(&translated) {
            total = total.saturating_add(states(&hir));
            found.widest = found.widest.max(activity(&hir));
        } else {
            let pattern = HardPattern::parse(source, translated.into_owned(), names)
                .filter(|_| jsonschema_regex::is_valid_ecma_regex(source))
                .ok_or_else(|| refuse(invalid()))?;
            // It is compiled a second time where the first try takes too many turns.
            total = total.saturating_add(pattern.width.saturating_mul(2));
            found.hard_names |= names;
            found.hard.0.push(pattern);
        }
        if total > limits.pattern_states {
            return Err(refuse(too_many(total, limits)));
        }
        if found.hard.0.last().is_some_and(|last| !last.compiles()) {
            return Err(refuse(invalid()));
        }
    }
    found.states = total;
    Ok(found)
}

fn too_many(found: usize, limits: &Limits) -> SchemaErrorKind {
    SchemaErrorKind::PatternStates { found, limit: limits.pattern_states }
}
