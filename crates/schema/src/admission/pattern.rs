//! What the regular expressions of a schema cost to compile and to match.

use std::collections::HashSet;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::survey::{Pattern, Survey};
use crate::{
    Limits, SchemaError, SchemaErrorKind,
    engine::{HardPattern, HardPatterns},
};

/// What was found.
pub(crate) struct Patterns {
    /// States of the widest pattern.
    pub(crate) widest: usize,
    /// The patterns that need a backtracking matcher.
    pub(crate) hard: HardPatterns,
    /// Whether one of them stands in `patternProperties`.
    pub(crate) hard_names: bool,
}

/// Checks every pattern of the survey.
pub(crate) fn check(survey: &Survey<'_>, limits: &Limits) -> Result<Patterns, SchemaError> {
    let mut found = Patterns { widest: 0, hard: HardPatterns::default(), hard_names: false };
    let mut seen = HashSet::new();
    let mut states = 0_usize;
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
        let is_new = seen.insert(source);
        if !is_new && !names {
            continue;
        }
        // Translating parses the pattern again for each escape in it.
        let escapes = source.bytes().filter(|byte| *byte == b'\\').count();
        states = states.saturating_add(escapes * source.len() / 4);
        if states > limits.pattern_states {
            return Err(refuse(too_many(states, limits)));
        }
        let invalid = || SchemaErrorKind::Pattern { pattern: source.chars().take(60).collect() };
        let translated = jsonschema_regex::to_rust_regex(source).map_err(|()| refuse(invalid()))?;
        if let Ok(hir) = regex_syntax::parse(&translated) {
            let width = width(&hir);
            states = states.saturating_add(if is_new { width } else { 0 });
            found.widest = found.widest.max(width);
        } else {
            found.hard_names |= names;
            if is_new {
                let pattern = HardPattern::compile(source, translated.into_owned())
                    .filter(|_| jsonschema_regex::is_valid_ecma_regex(source))
                    .ok_or_else(|| refuse(invalid()))?;
                states = states.saturating_add(source.len());
                found.hard.0.push(pattern);
            }
        }
        if states > limits.pattern_states {
            return Err(refuse(too_many(states, limits)));
        }
    }
    Ok(found)
}

fn too_many(found: usize, limits: &Limits) -> SchemaErrorKind {
    SchemaErrorKind::PatternStates { found, limit: limits.pattern_states }
}

/// About how many states the pattern compiles to.
fn width(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        // Characters beyond ASCII take several bytes, and so several states.
        HirKind::Class(Class::Unicode(class)) => match class.ranges().last() {
            Some(range) if range.end().is_ascii() => 1,
            _ => 4 + class.ranges().len() / 2,
        },
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min + 1).max(1) as usize;
            width(&repetition.sub).saturating_add(1).saturating_mul(times)
        }
        HirKind::Capture(capture) => width(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(1, |sum, part| width(part).saturating_add(sum))
        }
    }
}
