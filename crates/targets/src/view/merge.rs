//! One schema for several: `allOf` and alternatives.
//!
//! Both results may accept more than exact ones, never less: a view is a relaxation.

use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

/// Returns a schema that accepts everything that both `one` and `other` accept.
pub(super) fn intersect(one: Schema, other: Schema) -> Schema {
    let mut both = one;
    for (keyword, value) in other {
        let Some(present) = both.get_mut(&keyword) else {
            both.insert(keyword, value);
            continue;
        };
        match keyword.as_str() {
            "type" => {
                let common: Vec<_> = types(present)
                    .into_iter()
                    .flat_map(|one| {
                        types(&value).into_iter().filter_map(move |other| narrow(one, other))
                    })
                    .collect();
                if !common.is_empty() {
                    *present = written(common);
                }
            }
            "properties" | "patternProperties" | "$defs" | "definitions" => {
                if let (Value::Object(present), Value::Object(more)) = (present, value) {
                    for (name, schema) in more {
                        let merged = match present.remove(&name) {
                            Some(known) if known != schema => json!({ "allOf": [known, schema] }),
                            _ => schema,
                        };
                        present.insert(name, merged);
                    }
                }
            }
            "required" => {
                if let (Value::Array(present), Value::Array(more)) = (present, value) {
                    for name in more {
                        if !present.contains(&name) {
                            present.push(name);
                        }
                    }
                }
            }
            "enum" => {
                if let (Value::Array(present), Value::Array(more)) = (present, value)
                    && present.iter().any(|one| more.contains(one))
                {
                    present.retain(|one| more.contains(one));
                }
            }
            "items" if *present != value => {
                let known = present.take();
                *present = json!({ "allOf": [known, value] });
            }
            "additionalProperties" if value == Value::Bool(false) => *present = value,
            // One of two bounds, patterns and so on is enough for a relaxation.
            _ => {}
        }
    }
    both
}

/// Returns a schema that accepts everything that one of `branches` accepts.
pub(super) fn unite(branches: Vec<Schema>) -> Schema {
    let mut branches = branches.into_iter();
    let Some(first) = branches.next() else { return Schema::new() };
    branches.fold(first, unite_two)
}

fn unite_two(mut one: Schema, mut other: Schema) -> Schema {
    let mut either = Schema::new();
    let (one_types, other_types) = (types_of(&one), types_of(&other));
    let same_types = one_types == other_types;
    if let (Some(one), Some(other)) = (&one_types, &other_types) {
        let all = one.iter().chain(other).fold(Vec::new(), |mut all, name| {
            if !all.contains(name) {
                all.push(*name);
            }
            all
        });
        either.insert("type".to_owned(), written(all));
    }
    // Constraints of one type stay if only one side has that type.
    let only =
        |types: &Option<Vec<&'static str>>, others: &Option<Vec<&'static str>>, name: &str| {
            types.as_ref().is_some_and(|all| all.contains(&name))
                && others.as_ref().is_some_and(|all| !all.contains(&name))
        };
    if let (Some(mut all), Some(more)) = (take_values(&mut one), take_values(&mut other)) {
        for value in more {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        either.insert("enum".to_owned(), Value::Array(all));
    }
    one.remove("type");
    other.remove("type");
    let both_objects =
        !only(&one_types, &other_types, "object") && !only(&other_types, &one_types, "object");
    if both_objects && one.get("patternProperties") != other.get("patternProperties") {
        for side in [&mut one, &mut other] {
            side.shift_remove("patternProperties");
            side.insert("additionalProperties".to_owned(), true.into());
        }
    }
    for (keyword, value) in std::mem::take(&mut one) {
        let kind = about(&keyword);
        let stays_alone = kind.is_some_and(|kind| only(&one_types, &other_types, kind));
        match (keyword.as_str(), other.shift_remove(&keyword)) {
            (_, None) if stays_alone => {
                either.insert(keyword, value);
            }
            ("properties", found) => {
                let more = found.unwrap_or_else(|| json!({}));
                either.insert(keyword, unite_properties(value, more));
            }
            ("required", Some(Value::Array(names))) => {
                if let Value::Array(mut common) = value {
                    common.retain(|name| names.contains(name));
                    if !common.is_empty() {
                        either.insert(keyword, Value::Array(common));
                    }
                }
            }
            ("items", Some(found)) if found != value => {
                either.insert(keyword, json!({ "anyOf": [value, found] }));
            }
            ("description" | "title", found) => {
                either.insert(keyword, found.filter(|_| !same_types).unwrap_or(value));
            }
            (_, Some(found)) if found == value => {
                either.insert(keyword, value);
            }
            _ => {}
        }
    }
    for (keyword, value) in other {
        let stays_alone = about(&keyword).is_some_and(|kind| only(&other_types, &one_types, kind));
        if stays_alone || matches!(keyword.as_str(), "properties" | "description") {
            either.entry(keyword).or_insert(value);
        }
    }
    either
}

fn unite_properties(one: Value, other: Value) -> Value {
    let (Value::Object(mut all), Value::Object(more)) = (one, other) else { return json!({}) };
    for (name, schema) in more {
        match all.get_mut(&name) {
            Some(known) if *known == schema => {}
            Some(known) => add_alternative(known, schema),
            None => {
                all.insert(name, schema);
            }
        }
    }
    Value::Object(all)
}

/// Makes `known` accept what `schema` accepts, too. Copies nothing: there may be thousands of alternatives.
fn add_alternative(known: &mut Value, schema: Value) {
    let is_union = known.as_object().is_some_and(|it| it.len() == 1);
    match known.get_mut("anyOf").filter(|_| is_union) {
        Some(Value::Array(branches)) if branches.contains(&schema) => {}
        Some(Value::Array(branches)) => branches.push(schema),
        _ => *known = json!({ "anyOf": [known.take(), schema] }),
    }
}

/// The type that a keyword is about, if it is about one.
pub(super) fn about(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => "object",
        "items" | "prefixItems" | "contains" | "minContains" | "maxContains" | "minItems"
        | "maxItems" | "uniqueItems" | "unevaluatedItems" => "array",
        "pattern" | "minLength" | "maxLength" | "contentEncoding" | "contentMediaType" => "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        _ => return None,
    })
}

/// The names of the types.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The types that the value of `type` names.
pub(super) fn types(value: &Value) -> Vec<&'static str> {
    let find = |name: &Value| TYPES.into_iter().find(|known| name == known);
    match value {
        Value::Array(names) => names.iter().filter_map(find).collect(),
        name => find(name).into_iter().collect(),
    }
}

/// The types that `schema` allows: those of `type` or of its values, or that of what it declares. `None` if it says nothing.
pub(super) fn types_of(schema: &Schema) -> Option<Vec<&'static str>> {
    if let Some(written) = schema.get("type") {
        return Some(types(written));
    }
    if let Some(values) = values(schema) {
        let mut all = Vec::new();
        for value in &values {
            let name = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            if !all.contains(&name) {
                all.push(name);
            }
        }
        return Some(all);
    }
    // Whoever declares properties or elements means objects or arrays.
    if schema.contains_key("properties") {
        return Some(vec!["object"]);
    }
    (schema.contains_key("items") || schema.contains_key("prefixItems")).then(|| vec!["array"])
}

/// Whether `names` has the type `kind`; integers are numbers.
pub(super) fn has_type(names: &[&str], kind: &str) -> bool {
    names.contains(&kind) || (kind == "number" && names.contains(&"integer"))
}

/// Whether nothing can be of the types of both.
pub(super) fn excludes(one: &Schema, other: &Schema) -> bool {
    match (one.get("type"), other.get("type")) {
        (Some(one), Some(other)) => !types(one)
            .into_iter()
            .any(|one| types(other).into_iter().any(|other| narrow(one, other).is_some())),
        _ => false,
    }
}

/// The values of `enum` or `const`.
pub(super) fn values(schema: &Schema) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Takes the values of `enum` or `const` out of `schema`.
fn take_values(schema: &mut Schema) -> Option<Vec<Value>> {
    match (schema.remove("const"), schema.remove("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values),
        _ => None,
    }
}

/// The value of `type` for these types.
pub(super) fn written(names: Vec<&str>) -> Value {
    match names[..] {
        [name] => name.into(),
        _ => names.into(),
    }
}

fn narrow(one: &'static str, other: &'static str) -> Option<&'static str> {
    match (one, other) {
        _ if one == other => Some(one),
        ("integer", "number") | ("number", "integer") => Some("integer"),
        _ => None,
    }
}
