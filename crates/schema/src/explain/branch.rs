//! `anyOf` and `oneOf` without a match: the branch that came nearest speaks for all.

use std::collections::HashSet;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{Mistake, engine::burn, text::shorten};

use super::{
    explainer::Explainer,
    hint::properties,
    message::{Words, types},
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
        if let Some((expected, is_brief)) = self.either_value(error, branches) {
            let words = Words::new(expected, echo_typed(self.found(error)));
            return self.push(error, words.brief(is_brief));
        }
        if let Some((at, expected)) = discriminator(branches) {
            let words = Words::new(expected, echo(self.found(at)));
            return self.push(at, words);
        }
        if let Some((at, property, takes)) = self.missing_tag(branches) {
            let words =
                Words::new(format!("property `{}`", shorten(property)), echo(self.found(at)));
            let mistake = Mistake::Missing { property: property.to_owned(), takes: Some(takes) };
            return self.push(at, words.mistake(mistake));
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
        let instead = instead(error, nearest, branches);
        if let (Some(instead), [only]) = (instead, &mut self.list[before..]) {
            only.hint.get_or_insert(instead);
        }
        if branches.len() > 1 {
            let keyword = error.kind().keyword();
            let note = format!("the nearest of {} alternatives in `{keyword}`", branches.len());
            for violation in &mut self.list[before..] {
                violation.note.get_or_insert_with(|| note.clone());
            }
        }
    }

    /// What the branches ask for, where each asks for one type or value of the whole. Branches for another type have
    /// no say if others are for this one.
    fn either_value(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
    ) -> Option<(String, bool)> {
        let is_typed = branches.len() <= DESCRIBED;
        let asked = branches.iter().map(|branch| self.asked(error, branch, is_typed));
        let mut asked: Vec<Asked> = asked.collect::<Option<_>>()?;
        if asked.iter().any(|asked| !asked.is_of_other_type) {
            asked.retain(|asked| !asked.is_of_other_type);
            if asked.len() == 1 {
                // The nearest branch.
                return None;
            }
        }
        let is_brief = asked.iter().any(|asked| asked.is_brief);
        let mut options: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for option in asked.into_iter().flat_map(|asked| asked.options) {
            burn(ECHO);
            if known.insert(option.clone()) {
                options.push(option);
            }
        }
        (!options.is_empty()).then(|| (alternatives(&options, options.len()), is_brief))
    }

    /// What a branch asks of the whole, if it asks for one thing.
    fn asked(
        &mut self,
        error: &ValidationError<'_>,
        branch: &[ValidationError<'static>],
        is_typed: bool,
    ) -> Option<Asked> {
        if branch.iter().any(|inner| inner.instance_path() != error.instance_path()) {
            return None;
        }
        let is_type = |inner: &ValidationError<'_>| matches!(inner.kind(), Kind::Type { .. });
        let is_of_other_type = branch.iter().any(is_type);
        if let Some(options) = branch.iter().find_map(|inner| constants(inner, MOST + 1)) {
            return Some(Asked { options, is_of_other_type, is_brief: false });
        }
        let [inner] = branch else { return None };
        let (option, is_brief) = match inner.kind() {
            // More than a few are told by their types.
            Kind::Type { kind } if !is_typed => (types(kind), false),
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } | Kind::Required { .. } => return None,
            _ => {
                let words = self.words(inner);
                (words.mistake == Mistake::Value).then_some((words.expected, words.is_brief))?
            }
        };
        Some(Asked { options: vec![option], is_of_other_type, is_brief })
    }

    /// The property by which the branches tell themselves apart, where it is missing: an error about it, its
    /// name, and the values that the branches ask for.
    fn missing_tag<'e>(
        &self,
        branches: &'e [Vec<ValidationError<'static>>],
    ) -> Option<(&'e ValidationError<'static>, &'e str, String)> {
        let (first, others) = branches.split_first()?;
        if others.is_empty() || branches.len() > MOST {
            return None;
        }
        first.iter().take(MOST).find_map(|error| {
            let Kind::Required { property } = error.kind() else { return None };
            let mut values = Vec::new();
            for branch in branches {
                let is_same = |inner: &&ValidationError<'_>| {
                    matches!(inner.kind(), Kind::Required { property: other } if other == property)
                        && inner.instance_path() == error.instance_path()
                };
                let inner = branch.iter().find(is_same)?;
                let declared = properties(self.subschema(inner))?.get(property.as_str()?)?;
                values.push(echo(declared.get("const").or_else(|| match &declared["enum"] {
                    Value::Array(only) if only.len() == 1 => only.first(),
                    _ => None,
                })?));
            }
            burn(values.len() as u64 * ECHO);
            values.dedup();
            // One value does not tell branches apart.
            let is_tag = values.len() > 1;
            is_tag.then(|| {
                (error, property.as_str().unwrap_or_default(), alternatives(&values, values.len()))
            })
        })
    }
}

/// Steps for writing one value.
const ECHO: u64 = 32;

/// What a branch of a union asks of the whole.
struct Asked {
    options: Vec<String>,
    is_of_other_type: bool,
    is_brief: bool,
}

/// The most branches whose types are described.
const DESCRIBED: usize = 4;

/// The values that an error about constants asks for, up to `most`.
fn constants(error: &ValidationError<'_>, most: usize) -> Option<Vec<String>> {
    match error.kind() {
        Kind::Constant { expected_value } => Some(vec![echo(expected_value)]),
        Kind::Enum { options } => Some(options.as_array()?.iter().take(most).map(echo).collect()),
        _ => None,
    }
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
        let asked = constants(branch.iter().find(same)?, MOST)?;
        burn(asked.len() as u64 * ECHO);
        options.extend(asked);
    }
    options.dedup();
    Some((error, alternatives(&options, options.len())))
}

/// What could stand in place of the property that `nearest` misses, where each branch misses nothing but properties.
fn instead(
    error: &ValidationError<'_>,
    nearest: &[ValidationError<'static>],
    branches: &[Vec<ValidationError<'static>>],
) -> Option<String> {
    let mut options: Vec<String> = Vec::new();
    let missing = |branch: &[ValidationError<'static>]| {
        let names = branch.iter().map(|inner| match inner.kind() {
            Kind::Required { property } if inner.instance_path() == error.instance_path() => {
                property.as_str()
            }
            _ => None,
        });
        names
            .map(|name| name.map(|name| format!("`{}`", shorten(name))))
            .collect::<Option<Vec<String>>>()
    };
    let own = missing(nearest)?;
    for branch in branches.iter().take(MOST + 1) {
        let names = missing(branch)?;
        let option = names.join(" and ");
        burn(ECHO);
        if names != own && !options.contains(&option) {
            options.push(option);
        }
    }
    let is_one = own.len() == 1 && !options.is_empty();
    is_one.then(|| format!("or {} instead", alternatives(&options, options.len())))
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
