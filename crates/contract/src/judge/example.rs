//! An example of valid arguments, made from the schema and from what was right in the call.

use serde_json::{Map, Value, json};
use toolbond_schema::{Mistake, Schema, Verdict, Violation, Violations};

/// How deep values are made.
const MAX_DEPTH: usize = 16;

/// The most values of an example.
const MAX_VALUES: usize = 200;

/// Larger calls are not copied into an example.
const MAX_MEMBERS: usize = 50;

/// The bytes of values that are copied into an example.
const MAX_BYTES: usize = 1000;

/// The steps of one validation of an example.
const FUEL: u64 = 20_000;

/// How often a call is corrected.
const MAX_ROUNDS: usize = 3;

/// Arguments that are valid under `schema` and keep what is right in `arguments`; `None` where none are
/// found.
pub(super) fn call(schema: &Schema, arguments: &Value, violations: &Violations) -> Option<Value> {
    correct(schema, arguments, violations).or_else(|| generate(schema, arguments, violations))
}

/// `arguments` with a made value at each place that is wrong.
fn correct(schema: &Schema, arguments: &Value, violations: &Violations) -> Option<Value> {
    if !fits(arguments, &mut { MAX_BYTES }) {
        return None;
    }
    let mut maker = Maker { schema, left: MAX_VALUES };
    let mut corrected = arguments.clone();
    let mut violations = violations.clone();
    for _ in 0..MAX_ROUNDS {
        if violations.omitted() {
            return None;
        }
        for violation in &violations {
            maker.correct(&mut corrected, violation);
        }
        match schema.validate_within(&corrected, FUEL) {
            Verdict::Valid => return Some(corrected),
            Verdict::Invalid(left) => violations = left,
            Verdict::Unfinished(_) => return None,
        }
    }
    None
}

/// Arguments with all that is required, and with what was right at the top.
fn generate(schema: &Schema, arguments: &Value, violations: &Violations) -> Option<Value> {
    let root = schema.source();
    let is_wrong = |name: &str| {
        violations.iter().any(|it| it.instance.tokens().next().is_some_and(|first| first == name))
    };
    let mut left = MAX_BYTES;
    let given = arguments.as_object().filter(|members| members.len() <= MAX_MEMBERS);
    let kept: Map<String, Value> = given
        .into_iter()
        .flatten()
        .filter(|(name, value)| !violations.omitted() && !is_wrong(name) && fits(value, &mut left))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let wrong: Vec<&str> = given
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .filter(|name| is_wrong(name))
        .collect();
    let mut maker = Maker { schema, left: MAX_VALUES };
    let made = maker.object(root, &wrong, 0)?;
    let mut best = made.clone();
    best.extend(kept.iter().map(|(name, value)| (name.clone(), value.clone())));
    let declared = |name: &str| root.get("properties").is_some_and(|all| all.get(name).is_some());
    let mut known = best.clone();
    known.retain(|name, _| declared(name));
    let candidates = [best, known, made].map(Value::Object);
    candidates.into_iter().find(|candidate| schema.validate_within(candidate, FUEL).is_valid())
}

/// Whether `value` takes no more than `left`, which is less afterwards.
fn fits(value: &Value, left: &mut usize) -> bool {
    let bytes = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.keys().map(String::len).sum(),
        _ => 8,
    };
    let Some(rest) = left.checked_sub(bytes + 2) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(members) => members.values().all(|member| fits(member, left)),
        _ => true,
    }
}

/// Makes values for schemas.
struct Maker<'a> {
    schema: &'a Schema,
    left: usize,
}

impl<'a> Maker<'a> {
    /// Does what `violation` of `arguments` asks for, if its place is still there.
    fn correct(&mut self, arguments: &mut Value, violation: &Violation) -> Option<()> {
        if violation.document.is_some() {
            return None;
        }
        let (subschema, _) = violation.schema.as_str().rsplit_once('/')?;
        let subschema = self.schema.source().pointer(subschema)?;
        let value = arguments.pointer_mut(violation.instance.as_str())?;
        match &violation.mistake {
            Mistake::Missing { property, .. } => {
                let known = subschema.get("properties").and_then(|all| all.get(property));
                let made = match known {
                    Some(known) => self.value(known, 0)?,
                    None => "text".into(),
                };
                value.as_object_mut()?.entry(property).or_insert(made);
            }
            Mistake::Unknown { property, suggestion } => {
                let members = value.as_object_mut()?;
                let known = members.shift_remove(property)?;
                if let Some(suggestion) = suggestion {
                    members.entry(suggestion).or_insert(known);
                }
            }
            _ => *value = self.value(subschema, 0)?,
        }
        Some(())
    }

    /// A value for `schema`.
    fn value(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH || *schema == Value::Bool(false) {
            return None;
        }
        let given = schema
            .get("const")
            .or_else(|| schema.get("enum")?.get(0))
            .or_else(|| schema.get("examples")?.get(0))
            .or_else(|| schema.get("default").filter(|default| !default.is_null()));
        if let Some(given) = given {
            return Some(given.clone());
        }
        if schema.get("$ref").is_some() {
            return self.value(self.schema.resolve(schema)?, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array)
                && schema.get("properties").is_none()
            {
                return branches.iter().find_map(|branch| self.value(branch, depth + 1));
            }
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        Some(match kind {
            Some("null") => Value::Null,
            Some("boolean") => true.into(),
            Some(kind @ ("integer" | "number")) => number(schema, kind == "integer"),
            Some("array") => {
                let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).min(20);
                let any = Value::Bool(true);
                let items = schema.get("items").or_else(|| schema.get("prefixItems")?.get(0));
                match items {
                    Some(items) => (0..count)
                        .map(|_| self.value(items, depth + 1))
                        .collect::<Option<Vec<_>>>()?
                        .into(),
                    None => json!(vec![any; usize::try_from(count).ok()?]),
                }
            }
            Some("string") => string(schema).into(),
            Some("object") => self.object(schema, &[], depth)?.into(),
            _ if schema.get("properties").is_some() || schema.get("allOf").is_some() => {
                self.object(schema, &[], depth)?.into()
            }
            _ => "text".into(),
        })
    }

    /// An object with the required properties of `schema`, and those of `also` that it declares.
    fn object(
        &mut self,
        schema: &'a Value,
        also: &[&str],
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let mut object = Map::new();
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for part in parts.chain([schema]) {
            let part = match part.get("$ref") {
                Some(_) => self.schema.resolve(part)?,
                None => part,
            };
            let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
            let names = required.filter_map(Value::as_str).chain(also.iter().copied());
            for name in names {
                let property = part.get("properties").and_then(|all| all.get(name));
                if let Some(property) = property
                    && !object.contains_key(name)
                {
                    object.insert(name.to_owned(), self.value(property, depth + 1)?);
                }
            }
        }
        Some(object)
    }
}

fn number(schema: &Value, is_integer: bool) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|it| it + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|it| it - 1.0));
    let mut number = 1.0_f64.max(least.unwrap_or(1.0)).min(most.unwrap_or(f64::INFINITY));
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        number = (number / step).ceil() * step;
    }
    #[expect(clippy::cast_possible_truncation, reason = "an example, which is validated")]
    if is_integer { (number.ceil() as i64).into() } else { json!(number) }
}

fn string(schema: &Value) -> String {
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("uri" | "url") => "https://example.com",
        Some("email") => "name@example.com",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        _ => "text",
    };
    let bound = |keyword: &str| {
        schema.get(keyword).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok())
    };
    let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(usize::MAX));
    let text: String = text.chars().take(most).collect();
    if text.chars().count() >= least { text } else { "a".repeat(least.min(100)) }
}
