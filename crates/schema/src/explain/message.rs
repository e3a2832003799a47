//! Expected, found and hint for each kind of error.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use crate::{
    Mistake,
    engine::burn,
    text::{shorten, shorten_to},
};

use super::{
    explainer::Explainer,
    hint::{available, properties},
    takes::{describe, describe_type, example},
    value::{MOST, alternatives, echo, echo_typed, either, is_small},
};

/// The most characters of a pattern, which is of use only as a whole.
const LONGEST_PATTERN: usize = 200;

/// Names that a message lists.
const NAMED: usize = 5;

/// Steps for looking up one name.
const LOOKUP: u64 = 4;

/// The words of one violation.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) hint: Option<String>,
    pub(crate) mistake: Mistake,
    pub(crate) is_brief: bool,
    /// The message of [`Mistake::Other`].
    phrase: String,
}

impl Words {
    /// "expected …, found …".
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            found: found.into(),
            hint: None,
            mistake: Mistake::Value,
            is_brief: false,
            phrase: String::new(),
        }
    }

    /// The message, where "expected …, found …" would not read well.
    fn phrase(mut self, phrase: impl Into<String>) -> Self {
        self.mistake = Mistake::Other;
        self.phrase = phrase.into();
        self
    }

    pub(super) fn brief(mut self, is_brief: bool) -> Self {
        self.is_brief = is_brief;
        self
    }

    pub(super) fn mistake(mut self, mistake: Mistake) -> Self {
        self.mistake = mistake;
        self
    }

    pub(super) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn message(&self) -> String {
        match &self.mistake {
            Mistake::Value => ["expected ", &self.expected, ", found ", &self.found].concat(),
            Mistake::Other => self.phrase.clone(),
            mistake @ (Mistake::Missing { property, .. } | Mistake::Unknown { property, .. }) => {
                mistake.sentence(&shorten(property)).unwrap_or_default()
            }
        }
    }
}

impl<'a> Explainer<'a> {
    /// The words for an error that has no branches.
    pub(super) fn words(&mut self, error: &ValidationError<'_>) -> Words {
        let found = self.found(error);
        let bound =
            |sign: &str, limit: &Value| Words::new(format!("a number {sign} {limit}"), echo(found));
        match error.kind() {
            Kind::Type { kind } => {
                let subschema = self.subschema(error);
                match subschema.and_then(|schema| describe_type(self.source, schema)) {
                    Some(takes) => Words::new(takes.text, echo_typed(found)).brief(takes.is_brief),
                    None => Words::new(types(kind), echo_typed(found)),
                }
            }
            Kind::Minimum { limit } => bound("≥", limit),
            Kind::Maximum { limit } => bound("≤", limit),
            Kind::ExclusiveMinimum { limit } => bound(">", limit),
            Kind::ExclusiveMaximum { limit } => bound("<", limit),
            Kind::MultipleOf { multiple_of } => {
                Words::new(format!("a multiple of {multiple_of}"), echo(found))
            }
            Kind::MinLength { limit } => size("at least", *limit, "character", found),
            Kind::MaxLength { limit } => size("at most", *limit, "character", found),
            Kind::MinItems { limit } => {
                let mut words = size("at least", *limit, "item", found);
                let items = self.subschema(error).and_then(|schema| schema.get("items"));
                let Some(takes) = items.and_then(|items| describe_type(self.source, items)) else {
                    return words;
                };
                words.expected = format!("{} ({})", words.expected, takes.text);
                words.brief(takes.is_brief)
            }
            Kind::MaxItems { limit } => size("at most", *limit, "item", found),
            Kind::AdditionalItems { limit } => size("at most", *limit as u64, "item", found),
            Kind::MinProperties { limit } => properties_size("at least", *limit, found),
            Kind::MaxProperties { limit } => properties_size("at most", *limit, found),
            Kind::Pattern { pattern } => self.pattern(error, pattern, found),
            // `pattern`, where we match it ourselves; see `engine::pattern`.
            Kind::Custom { .. } => {
                let pattern = self.subschema(error).and_then(|schema| schema["pattern"].as_str());
                self.pattern(error, pattern.unwrap_or("its pattern"), found)
            }
            Kind::Format { format } => Words::new(format!("a valid {format}"), echo(found)),
            Kind::Constant { expected_value } => Words::new(echo(expected_value), echo(found)),
            Kind::Enum { options } => self.enumeration(options, found),
            Kind::Required { property } => self.required(error, property, found),
            Kind::UnevaluatedItems { unexpected } => {
                let noun = if unexpected.len() == 1 { "item" } else { "items" };
                let items: Vec<_> =
                    unexpected.iter().take(NAMED).map(|item| shorten(item)).collect();
                Words::new("no further items", items.join(", "))
                    .phrase(format!("unexpected {noun} {}", items.join(", ")))
            }
            Kind::UniqueItems => {
                Words::new("items that are all different", echo(found)).phrase(repeated(found))
            }
            Kind::Contains => self.contains(error, found),
            Kind::Not { schema } => {
                let place = self.source.place(error);
                let inner = self.source.value(&place).unwrap_or(schema);
                let other = describe_type(self.source, inner);
                let other = other.map_or_else(|| "what `not` describes".to_owned(), |it| it.text);
                Words::new(format!("a value other than {other}"), echo(found))
            }
            Kind::FalseSchema => {
                Words::new("nothing here", echo(found)).phrase("no value is allowed here")
            }
            Kind::OneOfMultipleValid { context } => {
                let branches = self.source.value(&self.source.place(error));
                several(context, branches.and_then(Value::as_array), found)
            }
            Kind::PropertyNames { error: inner } => {
                let name = echo(inner.instance());
                let mut explainer = Explainer::new(inner.instance(), self.source, 1);
                std::mem::swap(&mut explainer.speller, &mut self.speller);
                explainer.add(inner);
                std::mem::swap(&mut explainer.speller, &mut self.speller);
                let inner = explainer.finish(false).list.swap_remove(0);
                Words::new(format!("a property name that is {}", inner.expected), name.clone())
                    .phrase(format!("property name {name}: expected {}", inner.expected))
                    .hint(inner.hint)
            }
            Kind::ContentEncoding { content_encoding } => {
                Words::new(format!("text encoded as {content_encoding}"), echo(found))
            }
            Kind::ContentMediaType { content_media_type } => {
                Words::new(format!("content of type {content_media_type}"), echo(found))
            }
            _ => {
                Words::new("a value that matches", echo(found)).phrase(shorten(&error.to_string()))
            }
        }
    }

    fn contains(&self, error: &ValidationError<'_>, found: &Value) -> Words {
        let keyword = error.schema_path().as_str().rsplit('/').next().unwrap_or_default();
        let bound = self.subschema(error).and_then(|schema| schema[keyword].as_u64());
        let items = |count: u64| if count == 1 { "item" } else { "items" };
        let item = self.subschema(error).and_then(|schema| schema.get("contains"));
        let item = item.and_then(|item| describe_type(self.source, item));
        let kind = item.map_or_else(
            || "that `contains` describes".to_owned(),
            |it| format!("that fits: {}", it.text),
        );
        let expected = match (keyword, bound) {
            ("maxContains", Some(most)) => format!("at most {most} {} {kind}", items(most)),
            ("minContains", Some(least)) => format!("at least {least} {} {kind}", items(least)),
            _ => format!("an array with an item {kind}"),
        };
        Words::new(expected, echo(found))
    }

    /// A `format` beside a pattern says more than the pattern, which is often too long to show.
    fn pattern(&self, error: &ValidationError<'_>, pattern: &str, found: &Value) -> Words {
        let subschema = self.subschema(error);
        let format = subschema.and_then(|schema| schema["format"].as_str());
        let mut expected = match format {
            Some(format) => format!("a valid {}", shorten(format)),
            None => format!("a string matching `{}`", shorten_to(LONGEST_PATTERN, pattern)),
        };
        let example = subschema.and_then(|schema| example(self.source, schema));
        if let Some(example) = example.filter(|example| example.is_string()) {
            expected = format!("{expected}, for example {}", echo(example));
        }
        Words::new(expected, echo(found))
    }

    fn required(&mut self, error: &ValidationError<'_>, property: &Value, found: &Value) -> Words {
        let name = property.as_str().unwrap_or_default();
        let known = properties(self.subschema(error));
        let others = found.as_object().into_iter().flat_map(|members| members.keys());
        let misspelt = self.speller.nearest(name, others.map(String::as_str), |other| {
            known.is_none_or(|known| !known.contains_key(other))
        });
        let words = Words::new(format!("property `{}`", shorten(name)), echo(found));
        if let Some(misspelt) = misspelt {
            return words.unknown(misspelt, Some(name));
        }
        let takes = known
            .and_then(|known| known.get(name))
            .and_then(|property| describe(self.source, property));
        let is_brief = takes.as_ref().is_some_and(|takes| takes.is_brief);
        let takes = takes.map(|takes| takes.text);
        words.mistake(Mistake::Missing { property: name.to_owned(), takes }).brief(is_brief)
    }

    /// The properties at the place of `error` that its subschema does not declare.
    pub(super) fn undeclared(&self, error: &ValidationError<'_>) -> Vec<&'a str> {
        let known = properties(self.subschema(error));
        let members = self.found(error).as_object();
        burn(members.map_or(0, serde_json::Map::len) as u64 * LOOKUP);
        let names = members.into_iter().flat_map(|members| members.keys());
        names
            .map(String::as_str)
            .filter(|name| known.is_none_or(|known| !known.contains_key(*name)))
            .collect()
    }

    /// Explains properties that are not allowed, one by one.
    pub(super) fn add_unknown(&mut self, error: &ValidationError<'_>, names: Vec<&str>) {
        let count = names.len();
        let present = self.found(error).as_object();
        let known = properties(self.subschema(error));
        let mut is_listed = false;
        for name in names.into_iter().take(NAMED) {
            burn(name.len() as u64 / 4);
            let names = known.into_iter().flat_map(|known| known.keys()).map(String::as_str);
            let nearest = self.speller.nearest(name, names, |known| {
                present.is_none_or(|members| !members.contains_key(known))
            });
            let words = Words::new("no further properties", format!("`{}`", shorten(name)));
            let mut words = words.unknown(name, nearest);
            if nearest.is_none() && !is_listed {
                words.hint = available(known, present);
                is_listed = true;
            }
            self.push_within(error, words);
        }
        if count > NAMED {
            let noun = if count == NAMED + 1 { "property" } else { "properties" };
            let more = format!("{} more unknown {noun}", count - NAMED);
            let words = Words::new("no further properties", more.clone());
            self.push_within(error, words.phrase(more));
        }
    }

    fn enumeration(&mut self, options: &Value, found: &Value) -> Words {
        let options = options.as_array().map_or(&[][..], Vec::as_slice);
        if options.is_empty() {
            return Words::new("nothing", echo(found)).phrase("no value is allowed here");
        }
        let hint = found.as_str().and_then(|found| {
            self.speller
                .nearest(found, options.iter().filter_map(Value::as_str), |_| true)
                .map(|option| format!("did you mean {}?", Value::from(option)))
        });
        Words::new(either(options), echo(found)).hint(hint)
    }
}

impl Words {
    /// For a property that is unknown, and perhaps another one misspelt.
    fn unknown(self, property: &str, suggestion: Option<&str>) -> Self {
        let suggestion = suggestion.map(str::to_owned);
        let meant = suggestion.as_deref().map(shorten);
        self.hint(meant.map(|meant| format!("did you mean `{meant}`?")))
            .mistake(Mistake::Unknown { property: property.to_owned(), suggestion })
    }
}

fn size(bound: &str, limit: u64, noun: &str, found: &Value) -> Words {
    let plural = if limit == 1 { "" } else { "s" };
    let length = match found {
        Value::String(text) => {
            burn(text.len() as u64 >> 6);
            bytecount::num_chars(text.as_bytes())
        }
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    Words::new(format!("{bound} {limit} {noun}{plural}"), length.to_string())
}

/// Bounds on the number of properties: [`size`] forms the plural with an "s".
fn properties_size(bound: &str, limit: u64, found: &Value) -> Words {
    let noun = if limit == 1 { "property" } else { "properties" };
    let count = found.as_object().map_or(0, serde_json::Map::len);
    Words::new(format!("{bound} {limit} {noun}"), count.to_string())
}

/// The properties by which the alternatives of `branches` that match tell themselves apart: one that each requires and
/// no other does.
fn exclusive(matching: &[usize], branches: &[Value]) -> Option<Vec<String>> {
    let required = |index: &usize| -> Option<Vec<&str>> {
        let names = branches.get(*index)?.get("required")?.as_array()?;
        Some(names.iter().take(MOST).filter_map(Value::as_str).collect())
    };
    let all: Vec<Vec<&str>> = matching.iter().map(required).collect::<Option<_>>()?;
    burn((all.len() * all.len() * MOST) as u64);
    all.iter()
        .enumerate()
        .map(|(index, names)| {
            let is_own = |name: &&&str| {
                all.iter().enumerate().all(|(at, other)| at == index || !other.contains(*name))
            };
            names.iter().find(is_own).map(|name| format!("`{}`", shorten(name)))
        })
        .collect()
}

fn several(
    context: &[Vec<ValidationError<'_>>],
    branches: Option<&Vec<Value>>,
    found: &Value,
) -> Words {
    burn(context.len() as u64 >> 3);
    let matching: Vec<_> = context
        .iter()
        .enumerate()
        .filter(|(_, errors)| errors.is_empty())
        .map(|(index, _)| index)
        .take(MOST)
        .collect();
    let names = branches.and_then(|branches| exclusive(&matching, branches));
    if let Some(names) = names.filter(|names| names.len() > 1) {
        let names = names.join(" and ");
        return Words::new(format!("only one of {names}"), echo(found))
            .phrase(format!("expected only one of {names}"));
    }
    let which = match matching.len() {
        0 | 1 => String::new(),
        _ => {
            let matching: Vec<_> = matching.iter().map(usize::to_string).collect();
            format!(" ({})", matching.join(", "))
        }
    };
    Words::new("exactly one match in `oneOf`", echo(found))
        .phrase(format!("matches more than one alternative of `oneOf`{which}"))
}

/// Names two equal items of a short array of small items.
fn repeated(found: &Value) -> String {
    const LONGEST: usize = 64;
    let items = found.as_array().map_or(&[][..], Vec::as_slice);
    burn((items.len().min(LONGEST).pow(2) >> 1) as u64);
    let small = items.iter().take(LONGEST).map(|item| is_small(item).then_some(item));
    let small: Vec<Option<&Value>> = small.collect();
    let pair = small.iter().enumerate().find_map(|(index, item)| {
        let item = (*item)?;
        small[..index].iter().position(|other| *other == Some(item)).map(|other| (other, index))
    });
    match pair {
        Some((first, second)) => {
            format!("expected items that are all different, found items {first} and {second} equal")
        }
        None => "expected items that are all different, found equal ones".to_owned(),
    }
}

/// The types of a type error, in words.
pub(super) fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(json_type) => json_type.to_string(),
        TypeKind::Multiple(set) => {
            let mut names: Vec<_> = set.iter().map(|json_type| json_type.to_string()).collect();
            // `null` reads best at the end.
            names.sort_by_key(|name| name == &JsonType::Null.to_string());
            alternatives(&names, names.len())
        }
    }
}
