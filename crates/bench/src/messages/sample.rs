//! A call that a schema allows, with the subschema of each of its values.

use serde_json::{Map, Value, json};

use super::advice::Place;
use super::follow::{of_format, of_pattern};
use super::random::Random;

/// Deeper values are left out.
const DEEPEST: usize = 6;

/// Optional properties of one object.
const MOST_OPTIONAL: usize = 4;

/// A value of a sample.
pub(super) struct Spot {
    pub(super) place: Place,
    /// Without references, and with the branch that the value was made for.
    pub(super) schema: Value,
    /// Branches of a union that are no `null`.
    pub(super) branches: Vec<Value>,
}

/// Makes values for a schema.
pub(super) struct Sampler<'a> {
    pub(super) root: &'a Value,
    pub(super) random: &'a mut Random,
    pub(super) spots: Vec<Spot>,
}

impl Sampler<'_> {
    /// A value for `schema` at `place`; `None` if it takes more than this knows.
    pub(super) fn make(&mut self, schema: &Value, place: &Place) -> Option<Value> {
        if place.len() > DEEPEST {
            return None;
        }
        let mut schema = self.resolve(schema)?;
        let mut branches = Vec::new();
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(options)) = schema.get(keyword).cloned() else { continue };
            for option in &options {
                branches.push(self.resolve(option)?);
            }
            let is_null = |branch: &Value| {
                branch["type"] == "null" || branch.get("const").is_some_and(Value::is_null)
            };
            branches.retain(|branch| !is_null(branch));
            let branch = self.random.choose(&branches)?.clone();
            let mut rest = schema.clone();
            rest.as_object_mut()?.shift_remove(keyword);
            schema = merge(rest, &branch);
            schema = self.resolve(&schema)?;
        }
        if branches.len() < 2 {
            branches.clear();
        }
        self.spots.push(Spot { place: place.clone(), schema: schema.clone(), branches });
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(Value::Array(allowed)) = schema.get("enum") {
            let allowed: Vec<&Value> = allowed.iter().filter(|value| !value.is_null()).collect();
            return self.random.choose(&allowed).map(|value| (*value).clone());
        }
        match type_of(&schema) {
            "object" => self.make_object(&schema, place),
            "array" => self.make_array(&schema, place),
            "string" => make_string(&schema, self.random),
            "integer" => Some(make_number(&schema, 1.0)),
            "number" => Some(make_number(&schema, 0.5)),
            "boolean" => Some(json!(self.random.below(2) == 0)),
            "null" => Some(Value::Null),
            _ => Some(json!("text")),
        }
    }

    /// `schema` without `$ref` and `allOf` at its top.
    fn resolve(&self, schema: &Value) -> Option<Value> {
        let mut schema = match schema {
            Value::Bool(true) => json!({}),
            Value::Object(_) => schema.clone(),
            _ => return None,
        };
        for _ in 0..16 {
            if let Some(reference) = schema.as_object_mut()?.shift_remove("$ref") {
                let target = self.root.pointer(reference.as_str()?.strip_prefix('#')?)?;
                schema = merge(schema, target);
            } else if let Some(parts) = schema.as_object_mut()?.shift_remove("allOf") {
                for part in parts.as_array()? {
                    schema = merge(schema, part);
                }
            } else {
                return Some(schema);
            }
        }
        None
    }

    fn make_object(&mut self, schema: &Value, place: &Place) -> Option<Value> {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required = required(schema);
        let mut members = Map::new();
        let mut optional = 0;
        for (name, property) in properties {
            let is_required = required.contains(&name.as_str());
            if !is_required && (optional == MOST_OPTIONAL || self.random.below(2) == 0) {
                continue;
            }
            optional += usize::from(!is_required);
            let before = self.spots.len();
            match self.make(property, &join(place, name)) {
                Some(value) => _ = members.insert(name.clone(), value),
                None if is_required => return None,
                None => self.spots.truncate(before),
            }
        }
        for name in required {
            if !members.contains_key(name) {
                members.insert(name.to_owned(), json!("text"));
            }
        }
        if let (true, Some(others @ Value::Object(_))) =
            (members.is_empty(), schema.get("additionalProperties"))
        {
            let before = self.spots.len();
            match self.make(others, &join(place, "key")) {
                Some(value) => _ = members.insert("key".to_owned(), value),
                None => self.spots.truncate(before),
            }
        }
        Some(Value::Object(members))
    }

    fn make_array(&mut self, schema: &Value, place: &Place) -> Option<Value> {
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
        let count = least.max(1).min(most);
        let any = Value::Bool(true);
        let item = schema.get("items").unwrap_or(&any);
        let mut items = Vec::new();
        for at in 0..count {
            let before = self.spots.len();
            match self.make(item, &join(place, &at.to_string())) {
                Some(value) => items.push(value),
                None if least > 0 => return None,
                None => self.spots.truncate(before),
            }
        }
        Some(Value::Array(items))
    }
}

/// The names that `schema` requires.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first type that is not `null`.
pub(super) fn type_of(schema: &Value) -> &str {
    let named = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        name => name.as_str(),
    };
    let object = schema.get("properties").map(|_| "object");
    let array = schema.get("items").map(|_| "array");
    named.or(object).or(array).unwrap_or_default()
}

/// `place` and one step more.
pub(super) fn join(place: &[String], step: &str) -> Place {
    place.iter().cloned().chain([step.to_owned()]).collect()
}

/// Both schemas in one.
fn merge(mut schema: Value, other: &Value) -> Value {
    let (Value::Object(members), Value::Object(others)) = (&mut schema, other) else {
        return schema;
    };
    for (keyword, value) in others {
        match (members.get_mut(keyword), value) {
            (Some(Value::Object(known)), Value::Object(new)) => {
                known.extend(new.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            (Some(Value::Array(known)), Value::Array(new)) if keyword == "required" => {
                known.extend(new.iter().cloned());
            }
            _ => _ = members.insert(keyword.clone(), value.clone()),
        }
    }
    schema
}

fn make_string(schema: &Value, random: &mut Random) -> Option<Value> {
    if let Some(pattern) = schema["pattern"].as_str() {
        let examples = schema["examples"].as_array().into_iter().flatten();
        let known = examples.chain(schema.get("default")).find(|value| value.is_string());
        return known.cloned().or_else(|| of_pattern(pattern));
    }
    if let Some(format) = schema["format"].as_str() {
        return Some(of_format(format));
    }
    let word = random.choose(&["alpha", "report", "main", "north", "value"])?;
    let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).ok()?;
    let most = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
    let text = word.chars().cycle().take(least.max(word.len()).min(most.unwrap_or(usize::MAX)));
    (least < 500).then(|| json!(text.collect::<String>()))
}

#[expect(clippy::cast_possible_truncation, reason = "bounds of tools are small")]
fn make_number(schema: &Value, step: f64) -> Value {
    let bound = |keyword: &str| schema[keyword].as_f64();
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|limit| limit + step));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|limit| limit - step));
    let unit = bound("multipleOf").unwrap_or(1.0);
    let number = least.unwrap_or(3.0).max(if least.is_some() { f64::MIN } else { 3.0 });
    let number = number.min(most.unwrap_or(f64::MAX));
    let number = (number / unit).ceil() * unit;
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}
