//! Doing what a message says. This is the same for every format, so that only the messages differ.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolbond_schema::Schema;

use super::advice::{Advice, Bound, Place, Wanted, find, find_mut};

/// Changes `arguments` as told. Values come from `example`, a complete call, where it has the place.
pub(super) fn follow(arguments: &mut Value, advice: Vec<Advice>, example: Option<&Value>) {
    let mut changes: Vec<(Place, Wanted)> = Vec::new();
    let mut at: HashMap<Place, usize> = HashMap::new();
    let (mut additions, mut removals, mut unnamed) = (Vec::new(), Vec::new(), Vec::new());
    for advice in advice {
        match advice {
            Advice::Rename { place, from, to } => rename(arguments, &place, &from, &to),
            Advice::Add { place, name, wanted } => additions.push((place, name, wanted)),
            Advice::Remove { place, name } => removals.push((place, name)),
            Advice::RemoveSome { place } => unnamed.push(place),
            // Several lines about one place are read together.
            Advice::Change { place, wanted } => match at.get(&place) {
                Some(index) => merge(&mut changes[*index].1, wanted),
                None => {
                    at.insert(place.clone(), changes.len());
                    changes.push((place, wanted));
                }
            },
        }
    }
    for (place, name, wanted) in additions {
        let from_example = example.and_then(|example| find(example, &join(&place, &name)));
        if let Some(similar) = add(arguments, &place, &name, &wanted, from_example)
            && unnamed.contains(&place)
        {
            removals.push((place, similar));
        }
    }
    for (place, name) in removals {
        if let Some(Value::Object(members)) = find_mut(arguments, &place) {
            members.shift_remove(&name);
        }
    }
    // Inner places first: a change of the outer one may take them away.
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
    for (place, wanted) in changes {
        if let Some(value) = find_mut(arguments, &place) {
            match example.and_then(|example| find(example, &place)) {
                Some(told) if !place.is_empty() => *value = told.clone(),
                _ => change(value, &wanted),
            }
        }
    }
}

fn join(place: &[String], name: &str) -> Place {
    place.iter().cloned().chain([name.to_owned()]).collect()
}

fn merge(known: &mut Wanted, new: Wanted) {
    known.example = known.example.take().or(new.example);
    known.allowed.extend(new.allowed);
    known.types.extend(new.types);
    known.items = known.items.take().or(new.items);
    known.members.extend(new.members);
    known.format = known.format.take().or(new.format);
    known.pattern = known.pattern.take().or(new.pattern);
    known.bounds.extend(new.bounds);
}

fn rename(arguments: &mut Value, place: &[String], from: &str, to: &str) {
    if let Some(Value::Object(members)) = find_mut(arguments, place)
        && let Some(value) = members.shift_remove(from)
    {
        members.entry(to).or_insert(value);
    }
}

/// Adds a property, and returns the property of a similar name whose value it got.
fn add(
    arguments: &mut Value,
    place: &[String],
    name: &str,
    wanted: &Wanted,
    example: Option<&Value>,
) -> Option<String> {
    let Some(Value::Object(members)) = find_mut(arguments, place) else { return None };
    if members.contains_key(name) {
        return None;
    }
    let similar = similar(members, name).filter(|similar| fits(&members[similar], wanted));
    let value = match (&similar, example) {
        (Some(similar), _) => members[similar].clone(),
        (None, Some(example)) => example.clone(),
        (None, None) => make(wanted),
    };
    members.insert(name.to_owned(), value);
    similar
}

/// The property that `name` was probably written as.
fn similar(members: &Map<String, Value>, name: &str) -> Option<String> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let near = members.keys().filter_map(|key| {
        let letters = strsim::osa_distance(&plain(key), &plain(name));
        (letters <= name.len().max(key.len()) / 4).then_some((letters, key))
    });
    near.min_by_key(|(letters, _)| *letters).map(|(_, key)| key.clone())
}

fn fits(value: &Value, wanted: &Wanted) -> bool {
    (wanted.types.is_empty() || wanted.types.iter().any(|name| is_of(value, name)))
        && (wanted.allowed.is_empty() || wanted.allowed.contains(value))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

/// A value for a property that is not there. A message that tells nothing about it gets a string.
pub(super) fn make(wanted: &Wanted) -> Value {
    if let Some(value) = wanted.example.as_ref().or(wanted.allowed.first()) {
        return value.clone();
    }
    let mut value = match of_rule(wanted) {
        Some(text) => text,
        None => of_type(wanted.types.first().map_or("string", String::as_str), wanted),
    };
    keep_within(&mut value, wanted);
    value
}

fn of_type(name: &str, wanted: &Wanted) -> Value {
    match name {
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" => item(wanted).into_iter().collect(),
        "object" => {
            let member = |(name, wanted): &(String, Wanted)| (name.clone(), make(wanted));
            Value::Object(wanted.members.iter().map(member).collect())
        }
        "null" => Value::Null,
        _ => json!("text"),
    }
}

/// An item of an array, if the message says what that is.
fn item(wanted: &Wanted) -> Option<Value> {
    match &wanted.items {
        Some(items) => Some(make(items)),
        None => wanted.example.clone().filter(|example| !example.is_array()),
    }
}

/// A string of a `format` or a pattern, if the message names one that is known.
fn of_rule(wanted: &Wanted) -> Option<Value> {
    wanted.pattern.as_deref().and_then(of_pattern).or_else(|| {
        let format = wanted.format.as_deref()?;
        Some(of_format(format))
    })
}

/// A string that matches a pattern, out of a list of common ones.
pub(super) fn of_pattern(pattern: &str) -> Option<Value> {
    let schema = Schema::compile(&json!({ "pattern": pattern })).ok()?;
    STRINGS.iter().map(|text| json!(text)).find(|text| schema.is_valid(text))
}

/// Strings that patterns of tools ask for.
const STRINGS: [&str; 18] = [
    "text",
    "TEXT",
    "2030-01-02T03:04:05Z",
    "2030-01-02",
    "2030-01-02to2030-01-03",
    "03:04:05",
    "03:04",
    "123e4567-e89b-42d3-a456-426614174000",
    "a@example.com",
    "https://example.com/",
    "#a1b2c3",
    "a1b2c3",
    "123",
    "ABC-123",
    "AB",
    "ABC",
    "en",
    "1h",
];

/// A string of a `format`.
pub(super) fn of_format(format: &str) -> Value {
    json!(match format {
        "date-time" | "datetime" | "RFC 3339 date-time" => "2030-01-02T03:04:05Z",
        "date" => "2030-01-02",
        "time" => "03:04:05Z",
        "duration" => "P1D",
        "email" => "a@example.com",
        "uri" | "url" | "uri-reference" | "iri" => "https://example.com/",
        "uuid" | "guid" => "123e4567-e89b-42d3-a456-426614174000",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.com",
        _ => "text",
    })
}

fn change(value: &mut Value, wanted: &Wanted) {
    if !wanted.allowed.is_empty() {
        *value = choose(value, &wanted.allowed);
        return;
    }
    let is_right = wanted.types.is_empty() || wanted.types.iter().any(|name| is_of(value, name));
    let is_item = |example: &Value| is_right && value.is_array() && !example.is_array();
    if let Some(example) = wanted.example.as_ref().filter(|example| !is_item(example)) {
        *value = example.clone();
    } else if !is_right {
        let converted = wanted.types.iter().find_map(|name| convert(value, name));
        let other = wanted.types.iter().find(|name| *name != "null").unwrap_or(&wanted.types[0]);
        *value = converted.unwrap_or_else(|| of_type(other, wanted));
        if let (Value::Array(list), Some(items)) = (&mut *value, &wanted.items) {
            for item in list.iter_mut().filter(|item| !fits(item, items)) {
                change(item, items);
            }
        }
    } else if let Some(text) = of_rule(wanted) {
        *value = text;
    }
    keep_within(value, wanted);
}

/// The allowed value that is nearest to what was written, else the first.
fn choose(value: &Value, allowed: &[Value]) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
    let letters = |option: &&Value| strsim::osa_distance(&text(option), &text(value));
    let near = allowed.iter().min_by_key(letters).filter(|option| letters(option) <= 2);
    near.unwrap_or(&allowed[0]).clone()
}

/// `value` as a value of another type, where it can be read as one.
fn convert(value: &Value, name: &str) -> Option<Value> {
    let converted = match (name, value) {
        ("array", Value::String(text)) => {
            let parsed = serde_json::from_str(text).ok().filter(Value::is_array);
            parsed.unwrap_or_else(|| json!([text]))
        }
        ("null", _) | ("array", Value::Null | Value::Object(_)) => return None,
        ("array", other) => json!([other]),
        ("string", Value::Number(_) | Value::Bool(_)) => json!(value.to_string()),
        (_, Value::String(text)) => serde_json::from_str(text).ok()?,
        ("integer", Value::Number(number)) => json!(number.as_f64()?.round()),
        (_, Value::Array(items)) if items.len() == 1 => items[0].clone(),
        _ => return None,
    };
    is_of(&converted, name).then_some(converted)
}

#[expect(clippy::cast_possible_truncation, reason = "bounds of tools are small")]
fn keep_within(value: &mut Value, wanted: &Wanted) {
    for bound in &wanted.bounds {
        let number = value.as_f64();
        let step =
            if value.is_f64() && number.is_some_and(|n| n.fract() != 0.0) { 0.5 } else { 1.0 };
        let limited = match (*bound, number) {
            (Bound::AtLeast(limit), Some(n)) => (n < limit).then_some(limit),
            (Bound::AtMost(limit), Some(n)) => (n > limit).then_some(limit),
            (Bound::Above(limit), Some(n)) => (n <= limit).then_some(limit + step),
            (Bound::Below(limit), Some(n)) => (n >= limit).then_some(limit - step),
            (Bound::MultipleOf(unit), Some(n)) if unit > 0.0 => Some((n / unit).round() * unit),
            _ => None,
        };
        match (*bound, &mut *value) {
            (_, value) if limited.is_some() => {
                let limited = limited.unwrap_or_default();
                *value =
                    if limited.fract() == 0.0 { json!(limited as i64) } else { json!(limited) };
            }
            (Bound::Shortest(least), Value::String(text)) => {
                let missing = least.saturating_sub(text.chars().count());
                text.push_str(&"x".repeat(missing));
            }
            (Bound::Longest(most), Value::String(text)) => {
                *text = text.chars().take(most).collect();
            }
            (Bound::Shortest(least), Value::Array(items)) => {
                let item = items.last().cloned().or_else(|| item(wanted));
                let item = item.unwrap_or_else(|| json!("text"));
                items.resize(items.len().max(least), item);
            }
            (Bound::Longest(most), Value::Array(items)) => items.truncate(most),
            (Bound::Shortest(least), Value::Object(members)) => {
                for index in members.len()..least {
                    members.insert(format!("key{index}"), json!("text"));
                }
            }
            _ => {}
        }
    }
}
