//! Violations: what the engine reports, in words for whoever has to fix the value.

mod branch;
mod explainer;
mod hint;
mod message;
mod takes;
mod value;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;

pub(crate) use explainer::Explainer;

use self::{hint::Speller, message::Words};
use crate::{
    Mistake, Pointer, Violation, Violations,
    engine::burn,
    source::{Source, follow},
};

/// Steps for writing one violation, beside what its places take.
const VIOLATION: usize = 96;

impl<'a> Explainer<'a> {
    /// For errors about `instance` under `source`, at most `most` of them.
    pub(crate) fn new(instance: &'a Value, source: Source<'a>, most: usize) -> Self {
        Self {
            instance,
            source,
            most: most.max(1),
            list: Vec::with_capacity(1),
            omitted: false,
            speller: Speller::default(),
        }
    }

    /// Explains one error. What that takes burns fuel.
    pub(crate) fn add(&mut self, error: &ValidationError<'_>) {
        if self.list.len() >= self.most {
            self.omitted = true;
            return;
        }
        match error.kind() {
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => self.add_branches(error, context),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let names = unexpected.iter().map(String::as_str).collect();
                self.add_unknown(error, names);
            }
            ValidationErrorKind::FalseSchema
                if error.schema_path().as_str().ends_with("/additionalProperties") =>
            {
                self.add_unknown(error, self.undeclared(error));
            }
            _ => {
                let words = self.words(error);
                self.push(error, words);
            }
        }
    }

    /// An error that no branch is to be told about, or whose branches say nothing.
    fn push(&mut self, error: &ValidationError<'_>, words: Words) {
        let keyword = error.kind().keyword();
        let place = self.source.place(error);
        let (schema, document) = (place.pointer(), place.document());
        let places = error.instance_path().as_str().len()
            + schema.as_str().len()
            + document.as_ref().map_or(0, String::len);
        burn((VIOLATION + places / 4) as u64);
        self.list.push(Violation {
            instance: Pointer::from(error.instance_path().as_str()),
            schema,
            document,
            keyword: if keyword == "falseSchema" { String::new() } else { keyword.to_owned() },
            message: words.message(),
            expected: words.expected,
            found: words.found,
            hint: words.hint,
            note: None,
            mistake: words.mistake,
            is_brief: words.is_brief,
        });
    }

    /// Adds one of several violations of one error, up to the limit.
    fn push_within(&mut self, error: &ValidationError<'_>, words: Words) {
        if self.list.len() < self.most {
            self.push(error, words);
        } else {
            self.omitted = true;
        }
    }

    /// What stands at the place of `error`.
    fn found(&self, error: &ValidationError<'_>) -> &'a Value {
        follow(self.instance, error.instance_path().as_str()).unwrap_or(&Value::Null)
    }

    /// The subschema whose keyword `error` is about.
    fn subschema(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        self.source.subschema(&self.source.place(error))
    }

    /// All that was explained; `omitted` says that there was more.
    pub(crate) fn finish(mut self, omitted: bool) -> Violations {
        if self.list.len() > 1 {
            self.merge();
        }
        if self.list.is_empty() {
            self.list.push(undescribed());
        }
        Violations { list: self.list, omitted: self.omitted || omitted }
    }

    /// Leaves one violation for one mistake: a misspelt property is not also a missing one, and a value of
    /// the wrong type is not also none of the allowed ones.
    fn merge(&mut self) {
        let is_same_mistake = |one: &Violation, other: &Violation| match &other.mistake {
            Mistake::Unknown { property, suggestion: Some(suggestion) } => match &one.mistake {
                Mistake::Missing { property, .. } => property == suggestion,
                // Said by `required` and by `additionalProperties`.
                Mistake::Unknown { property: same, .. } => {
                    same == property && one.keyword == "required" && other.keyword != "required"
                }
                _ => false,
            },
            _ => one.keyword == "type" && matches!(other.keyword.as_str(), "enum" | "const"),
        };
        burn(self.list.len().pow(2) as u64);
        let is_said = |(index, one): (usize, &Violation)| {
            self.list.iter().enumerate().any(|(at, other)| {
                at != index && other.instance == one.instance && is_same_mistake(one, other)
            })
        };
        let said: Vec<bool> = self.list.iter().enumerate().map(is_said).collect();
        let mut said = said.into_iter();
        self.list.retain(|_| said.next() == Some(false));
    }
}

/// For an instance that is known to be invalid, and whose violations cost too much to collect.
fn undescribed() -> Violation {
    Violation {
        instance: Pointer::root(),
        schema: Pointer::root(),
        document: None,
        keyword: String::new(),
        expected: "a value that matches the schema".to_owned(),
        found: "one that does not".to_owned(),
        message: "does not match the schema; finding out where takes more than the fuel allows"
            .to_owned(),
        hint: None,
        note: None,
        mistake: Mistake::Other,
        is_brief: false,
    }
}
