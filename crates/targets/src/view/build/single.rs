//! Schemas without alternatives.

use serde_json::{Map, Value, json};

use super::{Builder, Built, Place};
use crate::feature::{root, types, values};
use crate::view::merge::{self, types_of, written};
use crate::view::notes::{self, Notes};
use crate::view::plan::{Plan, is_type};

impl Builder<'_> {
    /// Builds a schema without alternatives.
    pub(super) fn single(&mut self, mut schema: Map<String, Value>, place: &Place) -> Built {
        let mut notes = Notes::default();
        if self.form.refuses(&values::CONST)
            && let Some(constant) = schema.shift_remove("const")
        {
            schema.insert("enum".to_owned(), json!([constant]));
        }
        let found = types_of(&schema);
        let is_container = |value: &Value| value.is_object() || value.is_array();
        if schema.get("const").is_some_and(is_container) && self.form.refuses(&values::CONST_OBJECT)
        {
            notes.take(&mut schema, "const");
        }
        if place.is_root && self.form.refuses(&root::ROOT_ENUM) {
            declare_values(&mut schema);
            for keyword in ["enum", "const"] {
                notes.take(&mut schema, keyword);
            }
        }
        let count = schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        if count > 0 && (!self.form.takes_enum(&schema, place.is_root) || count > self.values) {
            notes.take(&mut schema, "enum");
        } else {
            self.values -= count;
        }
        let Some(mut found) = found.filter(|found| !found.is_empty()) else {
            let mut known = schema;
            notes.append_to(&mut known);
            return self.any(&known);
        };
        if found.contains(&"number") {
            found.retain(|name| *name != "integer");
        }
        let keeps_values = schema.contains_key("enum") || schema.contains_key("const");
        if !keeps_values || schema.contains_key("type") || self.form.needs_typed_values() {
            schema.insert("type".to_owned(), written(found.clone()));
        }
        let others = found.iter().filter(|name| **name != "null").count();
        let split = (found.len() > 1 && others <= 1 && self.form.refuses(&types::NULLABLE_TYPE))
            || (others > 1 && self.form.refuses(&types::TYPE_LIST));
        // A map may become a list, which would take the place of the other types.
        let is_map = found.contains(&"object")
            && !schema.contains_key("properties")
            && (schema.get("additionalProperties").is_some_and(Value::is_object)
                || schema.contains_key("patternProperties"))
            && (!self.form.maps || self.form.closed);
        if (split || (is_map && found.len() > 1)) && schema.contains_key("type") {
            return self.split(schema, &found, place, &notes);
        }
        self.one_type(schema, &found, place, notes)
    }

    /// One alternative for each type.
    pub(super) fn split(
        &mut self,
        schema: Map<String, Value>,
        found: &[&'static str],
        place: &Place,
        notes: &Notes,
    ) -> Built {
        let (mut annotations, constraints): (Map<_, _>, Map<_, _>) =
            schema.into_iter().partition(|(keyword, _)| notes::is_annotation(keyword));
        let mut branches = Vec::new();
        for name in found {
            let of_type = |keyword: &str| {
                merge::about(keyword)
                    .is_none_or(|kind| kind == *name || (kind == "number" && *name == "integer"))
            };
            let mut branch: Map<_, _> = constraints
                .iter()
                .filter(|(keyword, _)| of_type(keyword))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            branch.insert("type".to_owned(), (*name).into());
            if *name == "null" {
                branch.shift_remove("enum");
            }
            if let Some(Value::Array(values)) = branch.get_mut("enum") {
                values.retain(|value| is_type(value, name));
                if values.is_empty() {
                    continue;
                }
            }
            branches.push(self.one_type(
                branch,
                &[name],
                &Place { is_root: false, ..place.clone() },
                Notes::default(),
            ));
        }
        notes.append_to(&mut annotations);
        self.alternatives(annotations, branches)
    }

    pub(super) fn one_type(
        &mut self,
        mut schema: Map<String, Value>,
        found: &[&'static str],
        place: &Place,
        mut notes: Notes,
    ) -> Built {
        let mut plan = Plan::Keep;
        let is_container = found.contains(&"object") || found.contains(&"array");
        if is_container {
            if place.depth >= self.form.depth {
                return self.json_text(Some(&schema), "nested too deeply");
            }
            if found.contains(&"object") {
                declare_values(&mut schema);
            }
            for keyword in ["enum", "const"] {
                notes.take(&mut schema, keyword);
            }
            schema.entry("type").or_insert_with(|| written(found.to_vec()));
        }
        // What is about other types constrains nothing.
        schema.retain(|keyword, _| {
            merge::about(keyword).is_none_or(|kind| merge::has_type(found, kind))
        });
        self.drop_unsafe(&mut schema, is_container, &mut notes);
        if found.contains(&"object") {
            match self.object(&mut schema, place, &mut notes) {
                Some(found) => plan = found,
                None => {
                    notes.append_to(&mut schema);
                    return self.json_text(Some(&schema), "a free-form object");
                }
            }
            if let Plan::Pairs(_) = plan {
                return self.finish(schema, plan, place.is_root, notes);
            }
        }
        if found.contains(&"array") {
            plan = match (plan, self.array(&mut schema, place, &mut notes)) {
                (plan, Plan::Keep) | (Plan::Keep, plan) => plan,
                (object, array) => Plan::Union(vec![
                    (json!({ "type": "object" }), object),
                    (json!({ "type": "array" }), array),
                ]),
            };
        }
        self.finish(schema, plan, place.is_root, notes)
    }

    /// Removes keywords whose subschemas would have to change where changing them is no relaxation.
    fn drop_unsafe(
        &mut self,
        schema: &mut Map<String, Value>,
        is_container: bool,
        notes: &mut Notes,
    ) {
        let changes_members = self.form.closed || self.form.all_required || !self.form.maps;
        let is_clean = |inner: &Value| self.form.accepts_unchanged(inner, false);
        for (keyword, group) in CONDITIONS {
            let clean = match schema.get(*keyword) {
                Some(Value::Object(all)) if *keyword == "dependentSchemas" => {
                    all.values().all(is_clean)
                }
                Some(inner) => is_clean(inner),
                None => true,
            };
            let about_members = match *keyword {
                "if" | "then" | "else" | "unevaluatedProperties" | "dependentSchemas" => true,
                "not" | "contains" => is_container,
                _ => false,
            };
            if !clean || (changes_members && about_members) {
                for keyword in *group {
                    notes.take(schema, keyword);
                }
            }
        }
    }
}

/// Keywords whose subschemas cannot change without changing what the schema around them refuses, with those that go with
/// them.
const CONDITIONS: &[(&str, &[&str])] = &[
    ("not", &["not"]),
    ("contains", &["contains", "minContains", "maxContains"]),
    ("propertyNames", &["propertyNames"]),
    ("unevaluatedProperties", &["unevaluatedProperties"]),
    ("unevaluatedItems", &["unevaluatedItems"]),
    ("dependentSchemas", &["dependentSchemas"]),
    ("if", &["if", "then", "else"]),
    ("then", &["if", "then", "else"]),
    ("else", &["if", "then", "else"]),
];

/// Declares the properties that the objects of `enum` or `const` have.
fn declare_values(schema: &mut Map<String, Value>) {
    let values = merge::values(schema).unwrap_or_default();
    let names = values.iter().filter_map(Value::as_object).flat_map(Map::keys);
    let undeclared: Vec<_> = names.cloned().collect();
    if undeclared.is_empty() {
        return;
    }
    if let Value::Object(properties) = schema.entry("properties").or_insert_with(|| json!({})) {
        for name in undeclared {
            properties.entry(name).or_insert_with(|| json!({}));
        }
    }
}
