//! `anyOf` and `oneOf` without a match: the branch that came nearest speaks for all.

use std::collections::HashSet;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};

use crate::engine::burn;

use super::{
    Explainer, Words,
    message::{join_hints, types},
    value::{MOST, alternatives, echo, echo_typed},
};

impl Explainer<'_> {
    pub(super) fn add_branches(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
    ) {
        let errors: usize = branches.iter().map(Vec::len).sum();
        let path = error.instance_path().as_str().len();
        burn((branches.len() + errors * (1 + path / 32)) as u64);
        if let Some(expected) = either_value(error, branches) {
            let words = Words::new(expected, echo_typed(self.found(error)));
            return self.push(error, words);
        }
        if let Some((at, expected)) = discriminator(branches) {
            let words = Words::new(expected, echo(self.found(at)));
            return self.push(at, words);
        }
        let Some(nearest) = branches.iter().min_by_key(|errors| distance(error, errors)) else {
            return self.push(error, Words::new("a value that matches", echo(self.found(error))));
        };
        if nearest.is_empty() {
            return self.push(error, Words::new("a value that matches", echo(self.found(error))));
        }
        let before = self.list.len();
        for error in nearest {
            self.add(error);
        }
        if branches.len() > 1 {
            let keyword = error.kind().keyword();
            let note = format!("the nearest of {} alternatives in `{keyword}`", branches.len());
            for violation in &mut self.list[before..] {
                let mentioned =
                    violation.hint.as_deref().is_some_and(|hint| hint.contains("alternatives in"));
                if !mentioned {
                    violation.hint = Some(join_hints(violation.hint.take(), &note));
                }
            }
        }
    }
}

/// Steps for writing one value.
const ECHO: u64 = 32;

/// What the branches ask for, where each asks for one type or value of the whole.
fn either_value(
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
) -> Option<String> {
    let mut options: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for branch in branches {
        let [inner] = branch.as_slice() else { return None };
        if inner.instance_path() != error.instance_path() {
            return None;
        }
        let asked: Vec<String> = match inner.kind() {
            Kind::Type { kind } => vec![types(kind)],
            Kind::Constant { expected_value } => vec![echo(expected_value)],
            Kind::Enum { options } => options.as_array()?.iter().take(MOST + 1).map(echo).collect(),
            _ => return None,
        };
        burn(asked.len() as u64 * ECHO);
        for option in asked {
            if known.insert(option.clone()) {
                options.push(option);
            }
        }
    }
    (!options.is_empty()).then(|| alternatives(&options, options.len()))
}

/// The constant by which the branches tell themselves apart, where none of them has the given one: the error
/// about it, and what the branches ask for.
fn discriminator<'e>(
    branches: &'e [Vec<ValidationError<'static>>],
) -> Option<(&'e ValidationError<'static>, String)> {
    let is_constant = |inner: &&ValidationError<'_>| {
        matches!(inner.kind(), Kind::Constant { .. } | Kind::Enum { .. })
    };
    let (first, others) = branches.split_first()?;
    if others.is_empty() || branches.len() > MOST {
        return None;
    }
    let error = first.iter().find(is_constant)?;
    let mut options: Vec<String> = Vec::new();
    for branch in branches {
        let same = |inner: &&ValidationError<'_>| {
            is_constant(inner) && inner.instance_path() == error.instance_path()
        };
        let asked: Vec<String> = match branch.iter().find(same)?.kind() {
            Kind::Constant { expected_value } => vec![echo(expected_value)],
            Kind::Enum { options } => options.as_array()?.iter().take(MOST).map(echo).collect(),
            _ => return None,
        };
        burn(asked.len() as u64 * ECHO);
        options.extend(asked);
    }
    options.dedup();
    Some((error, alternatives(&options, options.len())))
}

/// How far a branch is from matching: a wrong type of the whole is furthest, then a wrong
/// constant, which is how alternatives usually tell themselves apart, then the number of errors.
fn distance(error: &ValidationError<'_>, errors: &[ValidationError<'_>]) -> (bool, usize, usize) {
    let wrong_type = errors.iter().any(|inner| {
        matches!(inner.kind(), Kind::Type { .. }) && inner.instance_path() == error.instance_path()
    });
    let wrong_constants = errors
        .iter()
        .filter(|inner| matches!(inner.kind(), Kind::Constant { .. } | Kind::Enum { .. }))
        .count();
    (wrong_type, wrong_constants, errors.len())
}
