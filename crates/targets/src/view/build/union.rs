//! Alternatives.

use serde_json::{Map, Value, json};

use super::{Builder, Built, Flat, Place, into_map};
use crate::feature::types;
use crate::view::merge::{self, intersect, types_of, unite};
use crate::view::notes::{self, Notes};
use crate::view::plan::Plan;

/// Keywords that could refuse null, whatever `type` says.
const IN_PLACE: [&str; 7] = ["const", "allOf", "anyOf", "oneOf", "not", "if", "$ref"];

/// The alternatives that are kept apart. More are merged.
const MAX_BRANCHES: usize = 64;

impl Builder<'_> {
    pub(super) fn union(
        &mut self,
        base: Map<String, Value>,
        branches: &[Value],
        place: &Place,
    ) -> Built {
        let mut flat = Vec::new();
        let mut kept: Vec<Built> = Vec::new();
        let merges = self.form.merges_unions(place.is_root) || branches.len() > MAX_BRANCHES;
        let (annotations, constraints): (Map<_, _>, Map<_, _>) =
            base.into_iter().partition(|(keyword, _)| notes::is_annotation(keyword));
        for branch in branches {
            if !merges && constraints.is_empty() && branch.get("$ref").is_some() {
                kept.push(self.build(branch, &Place { is_root: false, ..place.clone() }));
                continue;
            }
            match self.flatten_part(branch, place, 0) {
                Flat::Schema(branch, inner) => {
                    let branch = self.flat_branches(branch, &inner, 0);
                    let possible =
                        branch.into_iter().filter(|it| !merge::excludes(it, &constraints));
                    flat.extend(
                        possible.map(|it| (intersect(it, constraints.clone()), inner.clone())),
                    );
                }
                Flat::Any(known) if merges || !constraints.is_empty() => {
                    flat.push((intersect(known, constraints.clone()), place.clone()));
                }
                _ => return self.any(&annotations),
            }
        }
        if merges {
            if flat.is_empty() {
                return self.single(intersect(annotations, constraints), place);
            }
            self.changes.push("alternatives, merged into one".to_owned());
            let hint = alternatives_hint(flat.iter().map(|(branch, _)| branch));
            let followed = flat[0].1.followed.clone();
            let united = unite(flat.into_iter().map(|(branch, _)| branch).collect());
            let mut schema = intersect(annotations, united);
            if let Some(hint) = hint {
                notes::append(&mut schema, &hint);
            }
            return self.single(schema, &Place { followed, ..place.clone() });
        }
        for (branch, inner) in flat {
            kept.push(self.single(branch, &Place { is_root: false, ..inner }));
        }
        if kept.is_empty() {
            return self.single(intersect(annotations, constraints), place);
        }
        self.alternatives(annotations, kept)
    }

    /// Alternatives inside alternatives, as one list.
    pub(super) fn flat_branches(
        &mut self,
        mut branch: Map<String, Value>,
        place: &Place,
        rounds: usize,
    ) -> Vec<Map<String, Value>> {
        let inner = branch.shift_remove("anyOf").or_else(|| branch.shift_remove("oneOf"));
        let (Some(Value::Array(inner)), true) = (inner, rounds < 8) else { return vec![branch] };
        let mut all = Vec::new();
        for one in inner.iter().take(MAX_BRANCHES) {
            if let Flat::Schema(one, place) = self.flatten_part(one, place, rounds) {
                let one = intersect(one, branch.clone());
                all.extend(self.flat_branches(one, &place, rounds + 1));
            } else {
                all.push(branch.clone());
            }
        }
        all
    }

    /// `anyOf` of built schemas.
    pub(super) fn alternatives(
        &mut self,
        annotations: Map<String, Value>,
        branches: Vec<Built>,
    ) -> Built {
        let mut distinct: Vec<Built> = Vec::new();
        for branch in branches {
            if !distinct.iter().any(|known| known.schema == branch.schema) {
                distinct.push(branch);
            }
        }
        let strings = distinct.iter().filter(|it| takes(&it.schema, "string")).count();
        let arrays = distinct.iter().filter(|it| takes(&it.schema, "array")).count();
        let is_text = distinct.iter().any(|it| it.plan == Plan::Json);
        let is_list = distinct.iter().any(|it| matches!(it.plan, Plan::Pairs(_)));
        // Two alternatives that a value cannot tell apart: all of them as JSON text.
        if (is_text && strings > 1) || (is_list && arrays > 1) {
            return self.json_text(Some(&annotations), "alternatives");
        }
        if distinct.len() == 1 {
            let Built { schema, plan } = distinct.remove(0);
            let schema = intersect(annotations, into_map(schema));
            return self.finish(schema, plan, false, Notes::default());
        }
        if self.unions == 0 {
            return self.json_text(Some(&annotations), "too many properties with several types");
        }
        self.unions -= 1;
        let plan = if distinct.iter().all(|it| it.plan == Plan::Keep) {
            Plan::Keep
        } else {
            Plan::Union(distinct.iter().map(|it| (it.schema.clone(), it.plan.clone())).collect())
        };
        let mut schema = annotations;
        let branches = distinct.into_iter().map(|it| it.schema).collect();
        schema.insert("anyOf".to_owned(), branches);
        self.finish(schema, plan, false, Notes::default())
    }

    /// `value` or null.
    pub(super) fn nullable(&mut self, Built { schema, plan }: Built) -> Built {
        let mut schema = into_map(schema);
        if schema.is_empty()
            || (merge::types_of(&schema).is_none()
                && schema.keys().all(|it| notes::is_annotation(it)))
        {
            return Built { schema: Value::Object(schema), plan };
        }
        if let Some(found) = schema.get("type").map(merge::types)
            && !found.contains(&"null")
            && !self.form.refuses(&types::NULLABLE_TYPE)
            && !IN_PLACE.iter().any(|keyword| schema.contains_key(*keyword))
            && found.len() == 1
            && !(found[0] == "object" && plan != Plan::Keep)
        {
            schema.insert("type".to_owned(), json!([found[0], "null"]));
            if let Some(Value::Array(values)) = schema.get_mut("enum") {
                values.push(Value::Null);
            }
            return Built { schema: Value::Object(schema), plan };
        }
        let takes_null = match merge::values(&schema) {
            Some(values) => values.contains(&Value::Null),
            None => merge::types_of(&schema).is_some_and(|found| found.contains(&"null")),
        };
        if takes_null {
            return Built { schema: Value::Object(schema), plan };
        }
        let or_null = json!({ "type": "null" });
        let is_union = schema.keys().all(|it| it == "anyOf" || notes::is_annotation(it));
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf").filter(|_| is_union) {
            if !branches.contains(&or_null) {
                branches.push(or_null.clone());
            }
            let plan = match plan {
                Plan::Union(mut all) => {
                    all.push((or_null, Plan::Keep));
                    Plan::Union(all)
                }
                plan => plan,
            };
            return Built { schema: Value::Object(schema), plan };
        }
        let (annotations, constraints): (Map<_, _>, Map<_, _>) =
            schema.into_iter().partition(|(keyword, _)| notes::is_annotation(keyword));
        let mut schema = annotations;
        schema.insert("anyOf".to_owned(), json!([constraints, or_null]));
        Built { schema: Value::Object(schema), plan }
    }
}

/// Which properties belong together, for alternatives that are merged.
pub(super) fn alternatives_hint<'a>(
    branches: impl Iterator<Item = &'a Map<String, Value>>,
) -> Option<String> {
    let mut sets: Vec<String> = Vec::new();
    for branch in branches {
        let required = branch.get("required").and_then(Value::as_array)?;
        let names: Vec<_> = required.iter().filter_map(Value::as_str).collect();
        let set = names.join(" + ");
        if !set.is_empty() && !sets.contains(&set) {
            sets.push(set);
        }
    }
    (sets.len() > 1 && sets.len() <= 12).then(|| format!("Give one of: {}", sets.join("; ")))
}

/// Whether `schema` accepts values of the type `name`, as far as can be seen without following references.
pub(super) fn takes(schema: &Value, name: &str) -> bool {
    let Value::Object(schema) = schema else { return true };
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        return branches.iter().any(|branch| takes(branch, name));
    }
    types_of(schema).is_none_or(|found| found.contains(&name))
}

/// Whether `schema` has alternatives or several types.
pub(super) fn is_union(schema: &Value) -> bool {
    ["anyOf", "oneOf"].iter().any(|it| schema.get(it).is_some())
        || schema.get("type").is_some_and(Value::is_array)
}

/// `schema` without null among its alternatives or types, if it has it there.
pub(super) fn without_null(schema: &Value) -> Option<Value> {
    let is_null = |it: &Value| it == "null" || it.get("type").is_some_and(|name| name == "null");
    let mut rest = schema.as_object()?.clone();
    for keyword in ["type", "anyOf", "oneOf"] {
        if let Some(Value::Array(all)) = rest.get_mut(keyword) {
            let before = all.len();
            all.retain(|it| !is_null(it));
            if all.len() < before && !all.is_empty() {
                if keyword == "type" && all.len() == 1 {
                    let only = all.remove(0);
                    rest.insert(keyword.to_owned(), only);
                }
                if rest.get("default").is_some_and(Value::is_null) {
                    rest.shift_remove("default");
                }
                return Some(Value::Object(rest));
            }
        }
    }
    None
}
