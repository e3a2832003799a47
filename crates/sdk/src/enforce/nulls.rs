//! `null` where a model means that there is nothing.

use serde_json::{Map, Value};

/// References that are followed from one place, and arms inside of each other that are looked into.
const HOPS: usize = 16;

/// Steps that one call may take. It runs on the thread of the event loop.
const STEPS: usize = 50_000;

/// Removes each `null` in `value` that `schema` declares, does not require and does not allow, at any
/// depth; whether there was any.
///
/// Looking stops after a fixed number of steps. What is left is then refused like any other wrong value.
pub(super) fn drop_nulls(schema: &Value, value: &mut Value) -> bool {
    Nulls { root: schema, steps: STEPS }.drop_from(schema, value)
}

/// One walk over a value, with the document that its schema is a part of.
struct Nulls<'a> {
    root: &'a Value,
    /// Steps that are left.
    steps: usize,
}

impl<'a> Nulls<'a> {
    /// Whether there were `steps` left to take.
    fn takes(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or(0);
        left.is_some()
    }

    fn drop_from(&mut self, schema: &'a Value, value: &mut Value) -> bool {
        let schema = self.resolve(schema);
        match value {
            Value::Object(members) => self.drop_members(schema, members),
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return false };
                let mut any = false;
                for item in items {
                    if !self.takes(1) {
                        break;
                    }
                    any |= self.drop_from(schema, item);
                }
                any
            }
            _ => false,
        }
    }

    fn drop_members(&mut self, schema: &'a Value, members: &mut Map<String, Value>) -> bool {
        let declared = |name: &str| schema.get("properties")?.get(name);
        let before = members.len();
        members.retain(|name, value| {
            !value.is_null()
                || self.is_required(schema, name)
                || !declared(name).is_some_and(|schema| self.refuses_null(schema, HOPS))
        });
        let mut any = members.len() < before;
        for (name, value) in members {
            if !self.takes(1) {
                break;
            }
            let schema = declared(name).or_else(|| schema.get("additionalProperties"));
            any |= schema.is_some_and(|schema| self.drop_from(schema, value));
        }
        any
    }

    /// Whether `name` is required, or there are no steps left to tell.
    fn is_required(&mut self, schema: &Value, name: &str) -> bool {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| {
            !self.takes(names.len()) || names.iter().any(|other| other == name)
        })
    }

    /// Whether `null` breaks `schema` for sure.
    fn refuses_null(&mut self, schema: &'a Value, hops: usize) -> bool {
        let Some(hops) = hops.checked_sub(1).filter(|_| self.takes(1)) else { return false };
        let schema = self.resolve(schema);
        let list = |keyword| schema.get(keyword).and_then(Value::as_array);
        let by_type = match schema.get("type") {
            Some(Value::String(kind)) => kind != "null",
            Some(Value::Array(kinds)) => !kinds.iter().any(|kind| kind == "null"),
            _ => false,
        };
        by_type
            || list("enum")
                .is_some_and(|values| self.takes(values.len()) && !values.contains(&Value::Null))
            || ["anyOf", "oneOf"]
                .into_iter()
                .filter_map(list)
                .any(|arms| arms.iter().all(|arm| self.refuses_null(arm, hops)) && self.steps > 0)
            || list("allOf").is_some_and(|arms| arms.iter().any(|arm| self.refuses_null(arm, hops)))
    }

    /// What `schema` refers to, where it refers to a place of the same document; else `schema`.
    fn resolve(&mut self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..HOPS {
            let pointer = schema.get("$ref").and_then(Value::as_str);
            let target = pointer.and_then(|pointer| self.root.pointer(pointer.strip_prefix('#')?));
            match target.filter(|_| self.takes(1)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Nulls, STEPS, drop_nulls};

    /// Definitions that each refer to the next one twice.
    fn doubling(levels: usize) -> Map<String, Value> {
        let next = |level| json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let both = |level| json!({ "anyOf": [next(level), next(level)] });
        let mut definitions: Map<_, _> =
            (0..levels).map(|level| (format!("d{level}"), both(level))).collect();
        definitions.insert(format!("d{levels}"), json!({ "type": "string" }));
        definitions
    }

    #[test]
    fn drops_what_is_optional_and_not_nullable() {
        let schema = json!({
            "properties": {
                "a": { "type": "string" },
                "b": { "type": ["string", "null"] },
                "c": { "enum": [] },
                "d": { "type": "string" },
                "e": { "items": { "properties": { "f": { "type": "integer" } } } }
            },
            "required": ["d"]
        });
        let mut value =
            json!({ "a": null, "b": null, "c": null, "d": null, "e": [{ "f": null }], "g": null });
        assert!(drop_nulls(&schema, &mut value));
        assert_eq!(value, json!({ "b": null, "d": null, "e": [{}], "g": null }));
        assert!(!drop_nulls(&schema, &mut value));
    }

    #[test]
    fn stops_where_arms_multiply() {
        let schema = json!({
            "properties": { "a": { "$ref": "#/$defs/d0" } },
            "$defs": doubling(12)
        });
        let value = || json!({ "a": null });
        let mut one = value();
        assert!(drop_nulls(&schema, &mut one), "one is dropped within the steps");
        let many = json!({ "items": schema, "$defs": schema["$defs"] });
        let mut values = Value::Array(vec![value(); 100]);
        let mut nulls = Nulls { root: &many, steps: STEPS };
        nulls.drop_from(&many, &mut values);
        assert_eq!(nulls.steps, 0);
        assert_eq!(values[99], value());
    }

    #[test]
    fn stops_in_a_long_list_of_required_names() {
        let names: Vec<String> = (0..1000).map(|n| format!("n{n}")).collect();
        let schema = json!({ "required": names, "additionalProperties": true });
        let mut value = (0..1000).map(|n| (format!("m{n}"), Value::Null)).collect();
        let mut nulls = Nulls { root: &schema, steps: STEPS };
        assert!(!nulls.drop_from(&schema, &mut value));
        assert_eq!(nulls.steps, 0);
    }
}
