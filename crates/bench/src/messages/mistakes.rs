//! Mistakes that models make in calls.

use std::fmt;

use serde_json::{Value, json};

use super::advice::{Place, find, find_mut};
use super::random::Random;
use super::sample::{Spot, required, type_of};

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mistake {
    Type,
    Misspelt,
    Missing,
    Value,
    Undeclared,
    Range,
    Union,
    Whole,
    Shape,
    Text,
    Pattern,
}

impl Mistake {
    pub(super) const ALL: [Self; 11] = [
        Self::Type,
        Self::Misspelt,
        Self::Missing,
        Self::Value,
        Self::Undeclared,
        Self::Range,
        Self::Union,
        Self::Whole,
        Self::Shape,
        Self::Text,
        Self::Pattern,
    ];

    /// Makes this mistake at `spot` of `arguments`. Returns the place that is wrong now, if there is one.
    pub(super) fn make(
        self,
        arguments: &mut Value,
        spot: &Spot,
        random: &mut Random,
    ) -> Option<Place> {
        let place = spot.place.clone();
        let schema = &spot.schema;
        let value = find_mut(arguments, &place)?;
        match self {
            Self::Type if !place.is_empty() => *value = other_type(schema, random)?,
            Self::Misspelt => {
                let members = value.as_object_mut()?;
                let is_closed = schema["additionalProperties"] == false;
                let required = required(schema);
                let names: Vec<String> = members
                    .keys()
                    .filter(|name| name.len() >= 4)
                    .filter(|name| is_closed || required.contains(&name.as_str()))
                    .cloned()
                    .collect();
                let name = random.choose(&names)?;
                let wrong = misspell(name, random);
                if members.contains_key(&wrong) || !schema["properties"][&wrong].is_null() {
                    return None;
                }
                let value = members.shift_remove(name)?;
                members.insert(wrong, value);
                return Some(place.into_iter().chain([name.clone()]).collect());
            }
            Self::Missing => {
                let members = value.as_object_mut()?;
                let name = (*random.choose(&required(schema))?).to_owned();
                members.shift_remove(&name)?;
                return Some(place.into_iter().chain([name]).collect());
            }
            Self::Value => {
                schema.get("enum").or(schema.get("const"))?;
                let wrong = ["other", "unknown", "none", "all", "default"];
                *value = match value.as_str() {
                    // Misspelt, or something else.
                    Some(text) if text.len() >= 4 && random.below(2) == 0 => {
                        json!(misspell(text, random))
                    }
                    _ => json!(random.choose(&wrong)?),
                };
            }
            Self::Undeclared if schema["additionalProperties"] == false => {
                let name = *random.choose(&["verbose", "timeout_ms", "reason", "explanation"])?;
                if !schema["properties"][name].is_null() {
                    return None;
                }
                value.as_object_mut()?.insert(name.to_owned(), json!(true));
                return Some(place.into_iter().chain([name.to_owned()]).collect());
            }
            Self::Whole => {
                let members = value.as_object_mut()?;
                let is_container = |name: &&&str| {
                    members.get(**name).is_some_and(|member| match member {
                        Value::Array(items) => !items.is_empty(),
                        Value::Object(members) => !members.is_empty(),
                        _ => false,
                    })
                };
                let names = required(schema);
                let names: Vec<&&str> = names.iter().filter(is_container).collect();
                let name = (**random.choose(&names)?).to_owned();
                members.shift_remove(&name)?;
                return Some(place.into_iter().chain([name]).collect());
            }
            Self::Shape if !place.is_empty() => *value = simpler(value)?,
            Self::Text if !place.is_empty() && (value.is_array() || value.is_object()) => {
                *value = json!(value.to_string());
            }
            Self::Pattern => {
                let pattern = schema["pattern"].as_str()?;
                let is_time = pattern.contains("\\d{2}-") || pattern.contains("[01]");
                let wrong: &[&str] = if is_time {
                    &["tomorrow", "next Monday", "2030/01/02", "03.01.2030 10:00"]
                } else {
                    &["", "my value!", "<id>", "n/a"]
                };
                *value = json!(random.choose(wrong)?);
            }
            Self::Range => *value = out_of_range(value, schema, random)?,
            Self::Union if !spot.branches.is_empty() => {
                wrong_branch(value, spot, random)?;
            }
            _ => return None,
        }
        Some(place)
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Type => "wrong type",
            Self::Misspelt => "misspelt property",
            Self::Missing => "missing property",
            Self::Value => "value outside of an enum",
            Self::Undeclared => "undeclared property",
            Self::Range => "out of range",
            Self::Union => "no branch of a union",
            Self::Whole => "missing object or array",
            Self::Shape => "simpler shape: `[\"a\"]` for `[{\"name\": \"a\"}]`",
            Self::Text => "array or object as JSON text",
            Self::Pattern => "pattern not matched",
        })
    }
}

/// Whether one of two places contains the other.
pub(super) fn overlap(one: &[String], other: &[String]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// An object as its first string, or a string; a list of objects as a list of those, or as one object.
fn simpler(value: &Value) -> Option<Value> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let text = members.values().find(|member| member.is_string());
            Some(text.cloned().unwrap_or_else(|| json!("alpha")))
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            items.iter().map(simpler).collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => None,
    }
}

fn other_type(schema: &Value, random: &mut Random) -> Option<Value> {
    let options = match type_of(schema) {
        "integer" => json!(["10", "ten", [5], true, null]),
        "number" => json!(["0.5", "half", { "value": 1 }, null]),
        "boolean" => json!(["yes", "true", 1, null]),
        "string" => json!([42, true, ["alpha"], { "value": "alpha" }, null]),
        "array" => json!(["alpha", "alpha, beta", { "0": "alpha" }, 3]),
        "object" => json!(["alpha", ["alpha"], 7, "{\"name\": \"alpha\"}"]),
        _ => return None,
    };
    random.choose(options.as_array()?).cloned()
}

/// A name with two letters swapped, one left out or doubled, an `s`, or in another case.
fn misspell(name: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = 1 + random.below(letters.len().saturating_sub(2));
    match random.below(5) {
        0 => letters.swap(at, at - 1),
        1 => _ = letters.remove(at),
        2 => letters.insert(at, letters[at]),
        3 if name.contains('_') => {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_owned();
            return words.fold(first, |name, word| {
                let mut letters = word.chars();
                let start = letters.next().map(|letter| letter.to_ascii_uppercase());
                name + &start.into_iter().chain(letters).collect::<String>()
            });
        }
        _ => letters.push('s'),
    }
    letters.into_iter().collect()
}

fn out_of_range(value: &Value, schema: &Value, random: &mut Random) -> Option<Value> {
    let mut options: Vec<Value> = Vec::new();
    let number = |keyword: &str| schema[keyword].as_i64();
    let size = |keyword: &str| schema[keyword].as_u64().and_then(|size| usize::try_from(size).ok());
    match value {
        Value::Number(_) => {
            options.extend(number("minimum").map(|limit| json!(limit.saturating_sub(5))));
            options.extend(number("maximum").map(|limit| json!(limit.saturating_add(10))));
            options.extend(number("exclusiveMinimum").map(|limit| json!(limit)));
            options.extend(number("exclusiveMaximum").map(|limit| json!(limit)));
        }
        Value::String(text) => {
            let shorter = size("minLength").filter(|least| *least > 0);
            let shorter = shorter.map(|least| text.chars().take(least - 1).collect::<String>());
            options.extend(shorter.map(Value::from));
            let longer = size("maxLength").filter(|most| *most < 2000);
            options.extend(longer.map(|most| json!("alpha ".repeat(most / 6 + 1))));
        }
        Value::Array(items) => {
            let fewer = size("minItems").filter(|least| *least > 0);
            options.extend(fewer.map(|least| json!(items[..items.len().min(least - 1)])));
            let more = size("maxItems").filter(|most| *most < 200);
            options.extend(more.map(|most| items.iter().cycle().take(most + 1).cloned().collect()));
        }
        _ => {}
    }
    random.choose(&options).cloned()
}

/// Breaks the branch that `value` was made for, so that none matches.
fn wrong_branch(value: &mut Value, spot: &Spot, random: &mut Random) -> Option<()> {
    let Value::Object(members) = value else {
        let wrong = json!([[[]], { "value": 1 }, true, 0.5, "alpha"]);
        *value = random.choose(wrong.as_array()?)?.clone();
        return Some(());
    };
    let properties = &spot.schema["properties"];
    let is_tag = |name: &&String| {
        let property = &properties[name.as_str()];
        !property["const"].is_null() || !property["enum"].is_null()
    };
    let tag = members.keys().find(is_tag).cloned();
    match (random.below(3), tag) {
        (0, Some(tag)) => _ = members.insert(tag, json!("other")),
        // The tag of another branch.
        (1, Some(tag)) => {
            let other = random.choose(&spot.branches)?;
            let property = &other["properties"][&tag];
            let first = property.get("const").or(property["enum"].get(0))?;
            members.insert(tag, first.clone());
        }
        _ => {
            let name = (*random.choose(&required(&spot.schema))?).to_owned();
            members.shift_remove(&name)?;
        }
    }
    Some(())
}

/// Whether there is still a value at `place`.
pub(super) fn is_there(arguments: &Value, place: &[String]) -> bool {
    find(arguments, place).is_some()
}
