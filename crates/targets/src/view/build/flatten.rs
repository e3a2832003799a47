//! References, `allOf` and conditions that a target does not take.

use serde_json::{Map, Value, json};

use super::{Builder, Flat, Place};
use crate::feature::{objects, references, root, unions};
use crate::view::merge::{intersect, types_of, unite};
use crate::view::notes;

impl Builder<'_> {
    /// Removes references, `allOf` and conditions that the target does not take.
    pub(super) fn flatten(&mut self, schema: &Value, place: &Place, rounds: usize) -> Flat {
        let Value::Object(schema) = schema else { return Flat::Any(Map::new()) };
        let mut schema = schema.clone();
        let mut place = place.clone();
        if rounds > 64 {
            return Flat::Any(schema);
        }
        for dynamic in ["$dynamicRef", "$recursiveRef"] {
            if schema.contains_key(dynamic) {
                return Flat::Any(schema);
            }
        }
        if let Some(reference) = schema.shift_remove("$ref") {
            return self.follow(&reference, schema, place, rounds);
        }
        if schema.contains_key("allOf") {
            let parts = schema.shift_remove("allOf");
            self.changes.push("`allOf`, merged into one".to_owned());
            for part in parts.as_ref().and_then(Value::as_array).into_iter().flatten() {
                if let Flat::Schema(part, inner) = self.flatten_part(part, &place, rounds) {
                    place.followed = inner.followed;
                    schema = intersect(schema, strip_definitions(part));
                }
            }
            if schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
                schema.shift_remove("unevaluatedProperties");
                // What alternatives declare counts, too, and more than one may hold.
                if !OTHER_PLACES.iter().any(|it| schema.contains_key(*it)) {
                    schema.insert("additionalProperties".to_owned(), false.into());
                }
            }
            return self.flatten(&Value::Object(schema), &place, rounds + 1);
        }
        if self.drops_condition(&schema, &place) {
            let outcomes: Vec<_> = ["then", "else"].map(|it| schema.shift_remove(it)).into();
            schema.shift_remove("if");
            let mut branches = Vec::new();
            for outcome in outcomes.into_iter().flatten() {
                if let Flat::Schema(branch, _) = self.flatten_part(&outcome, &place, rounds) {
                    branches.push(branch);
                }
            }
            self.changes.push("`if`, `then`, `else`".to_owned());
            declare(&mut schema, &branches);
            return self.flatten(&Value::Object(schema), &place, rounds + 1);
        }
        if schema.contains_key("dependentSchemas")
            && (self.form.refuses(&objects::DEPENDENT_REQUIRED)
                || (place.is_root && self.form.refuses(&root::ROOT_CONDITION)))
        {
            let branches = schema.shift_remove("dependentSchemas");
            let mut flat = Vec::new();
            for branch in
                branches.as_ref().and_then(Value::as_object).into_iter().flat_map(Map::values)
            {
                if let Flat::Schema(branch, _) = self.flatten_part(branch, &place, rounds) {
                    flat.push(branch);
                }
            }
            self.changes.push("`dependentSchemas`".to_owned());
            declare(&mut schema, &flat);
        }
        if place.is_root
            && self.form.refuses(&root::ROOT_CONDITION)
            && schema.shift_remove("not").is_some()
        {
            self.changes.push("`not` at the root".to_owned());
        }
        Flat::Schema(schema, place)
    }

    /// Resolves a reference, or keeps it if the target takes it. `schema` is what stands beside it.
    pub(super) fn follow(
        &mut self,
        reference: &Value,
        mut schema: Map<String, Value>,
        mut place: Place,
        rounds: usize,
    ) -> Flat {
        let pointer = reference.as_str().and_then(|it| self.locate(it));
        let Some(pointer) = pointer else { return Flat::Any(schema) };
        let is_recursive = place.followed.contains(&pointer) || self.is_recursive(&pointer);
        schema.retain(|keyword, _| !matches!(keyword.as_str(), "$defs" | "definitions"));
        let has_constraints = schema.keys().any(|it| !notes::is_annotation(it));
        let siblings = self.form.refuses(&references::REF_SIBLINGS);
        let is_refused = is_recursive && self.form.refuses(&references::RECURSIVE_REF);
        let keeps = !(self.form.inline || place.is_root || is_refused);
        if keeps && (is_recursive || (!has_constraints && (schema.is_empty() || !siblings))) {
            if siblings {
                schema.clear();
            }
            schema.retain(|keyword, _| notes::is_annotation(keyword));
            return Flat::Reference(pointer, schema);
        }
        if place.followed.contains(&pointer) || place.followed.len() > 64 {
            return Flat::Any(schema);
        }
        place.followed.push(pointer.clone());
        let Some(target) = self.source.pointer(&pointer).cloned() else {
            return Flat::Any(schema);
        };
        if !self.copies(&pointer, &target) {
            return Flat::Any(schema);
        }
        match self.flatten(&target, &place, rounds + 1) {
            Flat::Schema(target, place) => {
                let merged = intersect(schema, strip_definitions(target));
                self.flatten(&Value::Object(merged), &place, rounds + 1)
            }
            Flat::Reference(name, _) => Flat::Reference(name, Map::new()),
            Flat::Any(known) => {
                let merged = intersect(schema, known);
                if merged.keys().all(|it| notes::is_annotation(it)) {
                    return Flat::Any(merged);
                }
                self.flatten(&Value::Object(merged), &place, rounds + 1)
            }
        }
    }

    /// Whether the schema at `pointer` refers to itself.
    fn is_recursive(&mut self, pointer: &str) -> bool {
        if let Some(known) = self.recursive.get(pointer) {
            return *known;
        }
        let found = references::reaches_itself_within(self.source, pointer, &mut self.steps);
        self.recursive.insert(pointer.to_owned(), found);
        found
    }

    /// Whether the definition at `pointer` may be copied once more.
    fn copies(&mut self, pointer: &str, target: &Value) -> bool {
        let size = match self.sizes.get(pointer) {
            Some(size) => *size,
            None => {
                let size = target.to_string().len();
                self.sizes.insert(pointer.to_owned(), size);
                size
            }
        };
        let left = self.bytes.checked_sub(size);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }

    /// Flattens a part of a schema; a reference that would be kept is resolved.
    pub(super) fn flatten_part(&mut self, part: &Value, place: &Place, rounds: usize) -> Flat {
        let inner = Place { is_root: place.is_root, ..place.clone() };
        match self.flatten(part, &inner, rounds + 1) {
            Flat::Reference(pointer, known) => {
                if inner.followed.contains(&pointer) || rounds > 32 {
                    return Flat::Any(known);
                }
                let mut inner = inner;
                inner.followed.push(pointer.clone());
                match self.source.pointer(&pointer).cloned() {
                    Some(target) => self.flatten(&target, &inner, rounds + 1),
                    None => Flat::Any(known),
                }
            }
            flat => flat,
        }
    }

    pub(super) fn drops_condition(&self, schema: &Map<String, Value>, place: &Place) -> bool {
        ["if", "then", "else"].iter().any(|it| schema.contains_key(*it))
            && (self.form.refuses(&unions::CONDITION)
                || self.form.closed
                || self.form.all_required
                || (place.is_root && self.form.refuses(&root::ROOT_CONDITION)))
    }

    /// The pointer that a reference names, if it is in the document.
    pub(super) fn locate(&self, reference: &str) -> Option<String> {
        let fragment = reference.strip_prefix('#')?;
        let pointer = references::decode(fragment);
        if pointer.is_empty() || pointer.starts_with('/') {
            return self.source.pointer(&pointer).map(|_| pointer);
        }
        let mut found = None;
        crate::node::walk_all(self.source, &mut |node| {
            if found.is_none() && node.get("$anchor").and_then(Value::as_str) == Some(&pointer) {
                found = Some(node.pointer().as_str().to_owned());
            }
        });
        found
    }
}

/// Keywords that declare properties beside `properties`, in part of the values.
const OTHER_PLACES: [&str; 6] = ["anyOf", "oneOf", "then", "else", "dependentSchemas", "$ref"];

/// Adds properties of `branches` that `schema` does not declare, as optional ones, if it describes objects.
pub(super) fn declare(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    if types_of(schema).as_deref() != Some(&["object"]) {
        return;
    }
    let declared = unite(branches.to_vec());
    let Some(Value::Object(more)) = declared.get("properties") else { return };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, inner) in more {
            properties.entry(name).or_insert_with(|| inner.clone());
        }
    }
}

pub(super) fn strip_definitions(mut schema: Map<String, Value>) -> Map<String, Value> {
    for keyword in ["$defs", "definitions", "$anchor", "$id", "$schema"] {
        schema.shift_remove(keyword);
    }
    schema
}
