//! What a value has to be, in a few words.

use serde_json::Value;

use super::value::{alternatives, echo, some_of};
use crate::{engine::burn, source::Source, text::shorten};

/// The most characters of a description.
const LONGEST: usize = 60;

/// The most characters of names, where not all of them fit.
const SOME: usize = 40;

/// References, alternatives and containers that are followed.
const HOPS: usize = 8;

/// Subschemas that one try looks at.
const STEPS: usize = 64;

/// What a value under `schema` may be, and an example if there is one. `source` is the document that references
/// point into.
pub(crate) fn describe(source: Source<'_>, schema: &Value) -> Option<Takes> {
    let takes = describe_type(source, schema)?;
    let example = example(source, schema).map(echo);
    match example.map(|example| format!("{}, for example {example}", takes.text)) {
        Some(text) if fits(&text) => Some(Takes { text, is_brief: false }),
        _ => Some(takes),
    }
}

/// What a value may be.
#[derive(Debug, PartialEq)]
pub(crate) struct Takes {
    pub(crate) text: String,
    /// Whether there was no room for what the schema says about required properties.
    pub(crate) is_brief: bool,
}

/// What a value under `schema` may be: its type, its bounds, the allowed values, what is inside of it.
pub(crate) fn describe_type(source: Source<'_>, schema: &Value) -> Option<Takes> {
    [Detail::All, Detail::Required, Detail::Names, Detail::Types].into_iter().find_map(|detail| {
        let mut describer = Describer { source, detail, left: STEPS };
        let text = describer.value(schema, false, HOPS);
        burn((STEPS - describer.left) as u64 * 4);
        let is_brief = matches!(detail, Detail::Names | Detail::Types);
        text.filter(|text| fits(text)).map(|text| Takes { text, is_brief })
    })
}

fn fits(text: &str) -> bool {
    text.chars().nth(LONGEST).is_none()
}

/// The example or default that a schema gives.
pub(crate) fn example<'a>(source: Source<'a>, schema: &'a Value) -> Option<&'a Value> {
    let mut schema = schema;
    for _ in 0..HOPS {
        let own = schema
            .get("examples")
            .and_then(|examples| examples.get(0))
            .or_else(|| schema.get("example"))
            .or_else(|| schema.get("default"));
        match own.filter(|own| !own.is_null()) {
            Some(own) => return Some(own),
            None => schema = source.target(schema)?,
        }
    }
    None
}

/// How much a description says, from most to least.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// All properties of objects, and bounds.
    All,
    /// Required properties, and bounds.
    Required,
    /// Names of properties.
    Names,
    /// Types only.
    Types,
}

struct Describer<'a> {
    source: Source<'a>,
    detail: Detail,
    left: usize,
}

impl<'a> Describer<'a> {
    /// The type or the values that `schema` names, in a shorter form if that is inside of another description.
    fn value(&mut self, schema: &'a Value, is_inside: bool, hops: usize) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        let hops = hops.checked_sub(1)?;
        if let Some(constant) = schema.get("const") {
            return Some(echo(constant));
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return some_of(options, if is_inside { LONGEST / 2 } else { LONGEST }, is_inside);
        }
        let named: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).take(7).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ if schema.get("items").is_some() => vec!["array"],
            _ => Vec::new(),
        };
        if let [kind] = named[..] {
            return Some(self.of_type(schema, kind, is_inside, hops));
        }
        if !named.is_empty() {
            let kinds = named.into_iter().map(|kind| self.of_type(schema, kind, is_inside, hops));
            return Some(join(&kinds.collect::<Vec<_>>(), is_inside));
        }
        if let Some(target) = self.source.target(schema) {
            return self.value(target, is_inside, hops);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return parts.iter().find_map(|part| self.value(part, is_inside, hops));
        }
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        let mut kinds: Vec<String> = Vec::new();
        for branch in branches {
            let kind = self.value(branch, is_inside, hops)?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        (!kinds.is_empty()).then(|| join(&kinds, is_inside))
    }

    /// The type `kind` with what `schema` says about it.
    fn of_type(&mut self, schema: &'a Value, kind: &str, is_inside: bool, hops: usize) -> String {
        let text = match kind {
            "integer" | "number" => self.number(schema, kind),
            "string" => self.string(schema, is_inside),
            "array" => self.array(schema, is_inside, hops),
            "object" => self.object(schema, is_inside, hops),
            _ => None,
        };
        text.unwrap_or_else(|| shorten(kind))
    }

    fn has_bounds(&self) -> bool {
        matches!(self.detail, Detail::All | Detail::Required)
    }

    fn number(&self, schema: &Value, kind: &str) -> Option<String> {
        let bound = |keyword| schema.get(keyword).filter(|it| self.has_bounds() && it.is_number());
        let limits = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].map(bound);
        if let [Some(least), _, Some(most), _] = limits {
            return Some(format!("{kind} from {least} to {most}"));
        }
        let bounds = ["≥", ">", "≤", "<"].into_iter().zip(limits);
        let bounds = bounds.filter_map(|(sign, limit)| Some(format!("{sign} {}", limit?)));
        let bounds: Vec<_> = bounds.collect();
        (!bounds.is_empty()).then(|| format!("{kind} {}", bounds.join(" and ")))
    }

    fn string(&self, schema: &Value, is_inside: bool) -> Option<String> {
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            return Some(format!("{} string", shorten(format)));
        }
        if !self.has_bounds() || is_inside {
            return None;
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            return Some(format!("string matching `{}`", shorten(pattern)));
        }
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        count(bound("minLength").filter(|least| *least > 1), bound("maxLength"), "character")
            .map(|count| format!("string of {count}"))
    }

    fn array(&mut self, schema: &'a Value, is_inside: bool, hops: usize) -> Option<String> {
        if self.detail == Detail::Types && is_inside {
            return None;
        }
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            let items = items.iter().map(|item| self.value(item, true, hops));
            return Some(format!("array [{}]", items.collect::<Option<Vec<_>>>()?.join(", ")));
        }
        let items = self.value(schema.get("items")?, true, hops)?;
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let count = count(bound("minItems").filter(|least| *least > 1), bound("maxItems"), "item")
            .filter(|_| self.has_bounds() && !is_inside);
        Some(match count {
            Some(count) => format!("array of {items}, {count}"),
            None => format!("array of {items}"),
        })
    }

    fn object(&mut self, schema: &'a Value, is_inside: bool, hops: usize) -> Option<String> {
        let declared = schema.get("properties").and_then(Value::as_object);
        let Some(declared) = declared.filter(|declared| !declared.is_empty()) else {
            let values = self.value(schema.get("additionalProperties")?, true, hops)?;
            let kind = if is_inside { "" } else { "object " };
            return Some(format!("{kind}{{[key]: {values}}}"));
        };
        if self.detail == Detail::Types {
            return None;
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let is_required = |name: &str| required.contains(&name);
        let has_all = self.detail == Detail::All || required.is_empty();
        let mut members: Vec<String> = Vec::new();
        let (mut length, mut is_cut) = (0, false);
        let optional = declared.keys().map(String::as_str);
        let optional = optional.filter(|name| has_all && !is_required(name));
        for name in required.iter().copied().chain(optional) {
            let mark = if is_required(name) { "" } else { "?" };
            let kind = match declared.get(name) {
                Some(schema) if self.detail != Detail::Names => self.value(schema, true, hops),
                _ => None,
            };
            let name = shorten(name);
            let member =
                kind.map_or(format!("{name}{mark}"), |kind| format!("{name}{mark}: {kind}"));
            length += member.chars().count() + 2;
            is_cut = length > if self.detail == Detail::Names { SOME } else { LONGEST };
            if is_cut && self.detail == Detail::Names {
                break;
            }
            members.push(member);
            if is_cut {
                // Too long, which the next try is not.
                break;
            }
        }
        if members.is_empty() {
            return None;
        }
        if is_cut || !has_all && declared.len() > required.len() {
            members.push("…".to_owned());
        }
        let kind = if is_inside { "" } else { "object " };
        Some(format!("{kind}{{{}}}", members.join(", ")))
    }
}

/// One of `kinds`, each of which is named once.
fn join(kinds: &[String], is_inside: bool) -> String {
    if is_inside { kinds.join("|") } else { alternatives(kinds, kinds.len()) }
}

/// `2 to 5 items`, `exactly 2 items`, `at least 2 items`.
fn count(least: Option<u64>, most: Option<u64>, noun: &str) -> Option<String> {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    Some(match (least, most) {
        (Some(least), Some(most)) if least == most => {
            format!("exactly {most} {noun}{}", plural(most))
        }
        (Some(least), Some(most)) => format!("{least} to {most} {noun}s"),
        (Some(least), None) => format!("at least {least} {noun}{}", plural(least)),
        (None, Some(most)) => format!("at most {most} {noun}{}", plural(most)),
        (None, None) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{LONGEST, describe};
    use crate::{engine::run_freely, source::Source};

    fn says(schema: &Value) -> Option<String> {
        let root = json!({ "$defs": {
            "unit": { "enum": ["celsius", "fahrenheit"] },
            "endless": { "$ref": "#/$defs/endless" }
        } });
        let text = run_freely(|| describe(Source::plain(&root), schema)).map(|takes| takes.text);
        assert!(text.as_ref().is_none_or(|text| text.chars().count() <= LONGEST), "{text:?}");
        text
    }

    #[test]
    fn says_what_a_property_takes() {
        for (schema, expected) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": "string", "default": "Bern" }), r#"string, for example "Bern""#),
            (json!({ "type": "string", "format": "date" }), "date string"),
            (json!({ "type": "string", "pattern": "^a+$" }), "string matching `^a+$`"),
            (json!({ "type": "string", "minLength": 3 }), "string of at least 3 characters"),
            (json!({ "type": "integer", "minimum": 1, "maximum": 9 }), "integer from 1 to 9"),
            (json!({ "type": "number", "exclusiveMinimum": 0 }), "number > 0"),
            (json!({ "type": ["integer", "null"] }), "integer or null"),
            (json!({ "$ref": "#/$defs/unit" }), r#""celsius" or "fahrenheit""#),
            (
                json!({ "anyOf": [{ "$ref": "#/$defs/unit" }, { "type": "null" }] }),
                r#""celsius" or "fahrenheit" or null"#,
            ),
            (
                json!({ "type": "object", "examples": [{ "a": 1 }] }),
                r#"object, for example {"a":1}"#,
            ),
            (
                json!({ "enum": vec!["a long name of a value"; 9] }),
                r#""a long name of a value" or 8 others"#,
            ),
        ] {
            assert_eq!(says(&schema).as_deref(), Some(expected), "{schema}");
        }
        assert_eq!(says(&json!({ "$ref": "#/$defs/endless" })), None);
        assert_eq!(says(&json!({})), None);
    }

    #[test]
    fn says_what_is_inside() {
        let strings = |names: &[&str]| -> Value {
            let member = |name: &&str| ((*name).to_owned(), json!({ "type": "string" }));
            Value::Object(names.iter().map(member).collect())
        };
        let filter = json!({
            "type": "object",
            "properties": { "field": { "type": "string" }, "op": { "enum": ["eq", "ne"] }, "value": {} },
            "required": ["field", "op"]
        });
        let long = ["repository_owner", "repository_name", "pull_request_number", "commit_title"];
        for (schema, expected) in [
            (json!({ "type": "array", "items": { "type": "string" } }), "array of string"),
            (json!({ "type": "array" }), "array"),
            (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), r#"array of "a"|"b""#),
            (
                json!({ "type": "array", "items": { "type": "number" }, "minItems": 4, "maxItems": 4 }),
                "array of number, exactly 4 items",
            ),
            (
                json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }] }),
                "array [string, number]",
            ),
            (
                json!({ "type": "array", "items": filter }),
                r#"array of {field: string, op: "eq"|"ne", value?}"#,
            ),
            (filter.clone(), r#"object {field: string, op: "eq"|"ne", value?}"#),
            (
                json!({ "properties": strings(&["a", "bb", "a_rather_long_name", "another_long_name"]), "required": ["bb"] }),
                "object {bb: string, …}",
            ),
            (
                json!({ "properties": strings(&long), "required": long }),
                "object {repository_owner, repository_name, …}",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "object {[key]: string}",
            ),
            (
                json!({ "type": ["array", "null"], "items": { "type": "integer" } }),
                "array of integer or null",
            ),
            (json!({ "type": "object", "properties": { "a".repeat(55): {} } }), "object"),
        ] {
            assert_eq!(says(&schema).as_deref(), Some(expected), "{schema}");
        }
    }
}
