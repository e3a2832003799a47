//! Builds the input schema of a view, and the plan that maps calls back.

use serde_json::{Map, Value, json};

use super::form::Form;
use super::merge::{self, intersect, types_of, unite, written};
use super::notes::{self, Notes};
use super::plan::{DEFINITION, KEY, Member, Members, Plan, Plans, VALUE};
use crate::Measure;
use crate::feature::{objects, references, root, types, unions, values};
use crate::target::measure::measure_schema;

/// The subschemas of one view. What is beyond them is JSON text.
const MAX_NODES: usize = 4000;

/// The alternatives that are kept apart. More are merged.
const MAX_BRANCHES: usize = 64;

/// A schema of a view with its plan.
#[derive(Clone, Debug)]
struct Built {
    schema: Value,
    plan: Plan,
}

/// Where a schema stands.
#[derive(Clone, Default)]
struct Place {
    is_root: bool,
    /// Nested levels of values.
    depth: usize,
    /// The references that were followed to get here.
    followed: Vec<String>,
}

impl Place {
    fn inside(&self) -> Self {
        Self { is_root: false, depth: self.depth + 1, followed: self.followed.clone() }
    }
}

/// A schema after references, `allOf` and conditions are gone.
enum Flat {
    Schema(Map<String, Value>, Place),
    /// A reference that the target accepts.
    Reference(String, Map<String, Value>),
    /// Nothing is known about the value.
    Any(Map<String, Value>),
}

pub(super) struct Builder<'a> {
    form: &'a Form,
    source: &'a Value,
    nodes: usize,
    optional: usize,
    unions: usize,
    values: usize,
    /// The pointer, the name, the schema and the plan of each definition that the view keeps.
    definitions: Vec<(String, String, Option<Built>)>,
    /// What was left out or written in another way: a pointer-like path and what.
    pub(super) changes: Vec<String>,
}

/// Builds the view of the input schema `source`.
pub(super) fn build(source: &Value, form: &Form) -> (Value, Plans, Vec<String>) {
    let mut builder = Builder {
        form,
        source,
        nodes: MAX_NODES,
        optional: form.optional,
        unions: form.unions,
        values: form.values,
        definitions: Vec::new(),
        changes: Vec::new(),
    };
    let place = Place { is_root: true, ..Place::default() };
    let Built { mut schema, plan } = builder.build(source, &place);
    let mut plans = Plans { root: Some(plan), definitions: Vec::new() };
    let mut definitions = Map::new();
    for (_, name, built) in builder.definitions {
        let built = built.unwrap_or(Built { schema: json!({}), plan: Plan::Keep });
        definitions.insert(name.clone(), built.schema.clone());
        plans.definitions.push((json!({ "name": name, "schema": built.schema }), built.plan));
    }
    if let Value::Object(schema) = &mut schema {
        schema.entry("type").or_insert_with(|| "object".into());
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    (schema, plans, builder.changes)
}

impl Builder<'_> {
    fn build(&mut self, schema: &Value, place: &Place) -> Built {
        if self.nodes == 0 || place.depth > self.form.depth {
            return self.json_text(schema.as_object(), "nested too deeply");
        }
        self.nodes -= 1;
        if !place.is_root && self.keeps(schema, place) {
            return Built { schema: schema.clone(), plan: Plan::Keep };
        }
        match self.flatten(schema, place, 0) {
            Flat::Any(known) => self.any(&known),
            Flat::Reference(name, known) => self.reference(&name, known),
            Flat::Schema(schema, place) => self.flat(schema, &place),
        }
    }

    /// Whether `schema` can stay as it is, and counts what is limited in it.
    fn keeps(&mut self, schema: &Value, place: &Place) -> bool {
        if !self.form.accepts_unchanged(schema, false) {
            return false;
        }
        let counts = measure_schema(schema);
        let count =
            |measure| counts.iter().find(|(one, _)| *one == measure).map_or(0, |(_, count)| *count);
        let optional = count(Measure::OptionalProperties);
        let unions = count(Measure::UnionProperties) + usize::from(is_union(schema));
        let values = count(Measure::EnumValues);
        let fits = place.depth + count(Measure::Depth) <= self.form.depth
            && (self.form.optional == usize::MAX || optional < self.optional)
            && unions <= self.unions
            && values <= self.values;
        if fits {
            self.optional -= if self.form.optional == usize::MAX { 0 } else { optional };
            self.unions -= unions;
            self.values -= values;
        }
        fits
    }

    /// Removes references, `allOf` and conditions that the target does not take.
    fn flatten(&mut self, schema: &Value, place: &Place, rounds: usize) -> Flat {
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
            let pointer = reference.as_str().and_then(|it| self.locate(it));
            let Some(pointer) = pointer else { return Flat::Any(schema) };
            let is_recursive = place.followed.contains(&pointer)
                || references::reaches_itself(self.source, &pointer);
            schema.retain(|keyword, _| !matches!(keyword.as_str(), "$defs" | "definitions"));
            let has_constraints = schema.keys().any(|it| !notes::is_annotation(it));
            let siblings = self.form.refuses(&references::REF_SIBLINGS);
            let keeps = !self.form.inline
                && !place.is_root
                && !(is_recursive && self.form.refuses(&references::RECURSIVE_REF));
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
            return match self.flatten(&target, &place, rounds + 1) {
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
            };
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
                schema.insert("additionalProperties".to_owned(), false.into());
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
            self.note_change(&schema, "`if`, `then`, `else`");
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
            self.note_change(&schema, "`dependentSchemas`");
            declare(&mut schema, &flat);
        }
        if place.is_root
            && self.form.refuses(&root::ROOT_CONDITION)
            && schema.shift_remove("not").is_some()
        {
            self.note_change(&schema, "`not` at the root");
        }
        Flat::Schema(schema, place)
    }

    /// Flattens a part of a schema; a reference that would be kept is resolved.
    fn flatten_part(&mut self, part: &Value, place: &Place, rounds: usize) -> Flat {
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

    fn drops_condition(&self, schema: &Map<String, Value>, place: &Place) -> bool {
        ["if", "then", "else"].iter().any(|it| schema.contains_key(*it))
            && (self.form.refuses(&unions::CONDITION)
                || self.form.closed
                || self.form.all_required
                || (place.is_root && self.form.refuses(&root::ROOT_CONDITION)))
    }

    /// The pointer that a reference names, if it is in the document.
    fn locate(&self, reference: &str) -> Option<String> {
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

    /// Builds a schema without references and `allOf` that the target does not take.
    fn flat(&mut self, mut schema: Map<String, Value>, place: &Place) -> Built {
        if let Some(one_of) = schema.shift_remove("oneOf") {
            // At least one of them holds.
            if schema.contains_key("anyOf") {
                self.note_change(&schema, "`oneOf` beside `anyOf`");
            } else {
                schema.insert("anyOf".to_owned(), one_of);
            }
        }
        if let Some(Value::Array(branches)) = schema.shift_remove("anyOf") {
            return self.union(schema, &branches, place);
        }
        self.single(schema, place)
    }

    fn union(&mut self, base: Map<String, Value>, branches: &[Value], place: &Place) -> Built {
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
                    flat.extend(
                        branch
                            .into_iter()
                            .map(|branch| (intersect(branch, constraints.clone()), inner.clone())),
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
                return self.any(&annotations);
            }
            self.note_change(&annotations, "alternatives, merged into one");
            let hint = alternatives_hint(flat.iter().map(|(branch, _)| branch));
            let followed = flat[0].1.followed.clone();
            let merged = unite(flat.into_iter().map(|(branch, _)| branch).collect());
            let mut schema = intersect(annotations, merged);
            if let Some(hint) = hint {
                notes::append(&mut schema, &hint);
            }
            return self.single(schema, &Place { followed, ..place.clone() });
        }
        for (branch, inner) in flat {
            kept.push(self.single(branch, &Place { is_root: false, ..inner }));
        }
        self.alternatives(annotations, kept)
    }

    /// Alternatives inside alternatives, as one list.
    fn flat_branches(
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
    fn alternatives(&mut self, annotations: Map<String, Value>, branches: Vec<Built>) -> Built {
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

    /// Builds a schema without alternatives.
    fn single(&mut self, mut schema: Map<String, Value>, place: &Place) -> Built {
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
        if split && schema.contains_key("type") {
            return self.split(schema, &found, place, notes);
        }
        self.one_type(schema, &found, place, notes)
    }

    /// One alternative for each type.
    fn split(
        &mut self,
        schema: Map<String, Value>,
        found: &[&'static str],
        place: &Place,
        notes: Notes,
    ) -> Built {
        if self.form.refuses(&unions::ANY_OF) {
            let others: Vec<_> = found.iter().copied().filter(|name| *name != "null").collect();
            if let [only] = others[..] {
                let mut schema = schema;
                schema.insert("type".to_owned(), only.into());
                self.note_change(&schema, "`null`");
                return self.one_type(schema, &[only], place, notes);
            }
            return self.json_text(Some(&schema), "several types");
        }
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
                values.retain(|value| super::plan::is_type(value, name));
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

    fn one_type(
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
            for keyword in ["enum", "const"] {
                notes.take(&mut schema, keyword);
            }
        }
        self.drop_unsafe(&mut schema, &mut notes);
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
                (plan, Plan::Keep) => plan,
                (Plan::Keep, plan) => plan,
                (object, array) => Plan::Union(vec![
                    (json!({ "type": "object" }), object),
                    (json!({ "type": "array" }), array),
                ]),
            };
        }
        self.finish(schema, plan, place.is_root, notes)
    }

    /// Removes keywords whose subschemas would have to change where changing them is no relaxation.
    fn drop_unsafe(&mut self, schema: &mut Map<String, Value>, notes: &mut Notes) {
        for keyword in
            ["not", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "if"]
        {
            let clean =
                schema.get(keyword).is_none_or(|inner| self.form.accepts_unchanged(inner, false));
            let changes_members = self.form.closed || self.form.all_required || !self.form.maps;
            if !clean || (changes_members && matches!(keyword, "if" | "unevaluatedProperties")) {
                notes.take(schema, keyword);
                match keyword {
                    "if" => {
                        notes.take(schema, "then");
                        notes.take(schema, "else");
                    }
                    "contains" => {
                        notes.take(schema, "minContains");
                        notes.take(schema, "maxContains");
                    }
                    _ => {}
                }
            }
        }
    }

    /// Rewrites the keywords of objects. `None` if the object has to be JSON text.
    fn object(
        &mut self,
        schema: &mut Map<String, Value>,
        place: &Place,
        notes: &mut Notes,
    ) -> Option<Plan> {
        let mut properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let patterns = schema
            .get("patternProperties")
            .and_then(Value::as_object)
            .filter(|_| self.form.refuses(&objects::PATTERN_PROPERTIES))
            .map(|all| all.values().cloned().collect::<Vec<_>>());
        if patterns.is_some() {
            notes.take(schema, "patternProperties");
        }
        let additional = schema.shift_remove("additionalProperties");
        let mut more = match &additional {
            Some(Value::Object(inner)) if inner.is_empty() => Some(Value::Bool(true)),
            Some(inner @ Value::Object(_)) => Some(inner.clone()),
            Some(Value::Bool(true)) => Some(Value::Bool(true)),
            _ => None,
        };
        if let Some(patterns) = patterns {
            let rest = more.take().filter(|it| it.is_object());
            let all: Vec<_> = patterns.into_iter().chain(rest).collect();
            more = Some(match all.len() {
                1 => all.into_iter().next().unwrap_or_default(),
                _ => json!({ "anyOf": all }),
            });
        }
        let is_closed = additional == Some(Value::Bool(false)) && more.is_none();
        let is_empty = properties.is_empty();
        if is_empty && !place.is_root {
            match &more {
                Some(values @ Value::Object(_)) => {
                    return Some(self.map(schema, values, place, notes));
                }
                _ if self.form.refuses(&objects::EMPTY_OBJECT)
                    && (!is_closed || self.form.never_closed) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        self.declare_required(schema, &mut properties, is_closed);
        let required: Vec<String> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        let mut members = Vec::new();
        let mut built = Map::new();
        let mut names_required = Vec::new();
        let mut overflow = false;
        for (own, inner) in &properties {
            if *inner == Value::Bool(false) {
                continue;
            }
            let is_required = required.contains(own);
            if !is_required && !self.form.all_required {
                if self.optional <= 1 && self.form.optional != usize::MAX {
                    overflow = true;
                    continue;
                }
                self.optional -= usize::from(self.form.optional != usize::MAX);
            }
            let name = self.key(own, place, &built);
            // Where alternatives are few, a property that may be left out need not also be null.
            let stripped = (!is_required && self.form.unions != usize::MAX)
                .then(|| without_null(inner))
                .flatten();
            let drops_null = stripped.is_some();
            let mut value = self.build(stripped.as_ref().unwrap_or(inner), &place.inside());
            let null_is_absent =
                !is_required && self.form.all_required && inner.get("x-mcp-header").is_none();
            if null_is_absent {
                value = self.nullable(value);
            }
            if is_required || self.form.all_required {
                names_required.push(name.clone());
            }
            built.insert(name.clone(), value.schema);
            members.push(Member {
                name,
                own: own.clone(),
                plan: value.plan,
                null_is_absent,
                drops_null,
            });
        }
        if self.form.all_required {
            for keyword in ["minProperties", "maxProperties", "dependentRequired", "propertyNames"]
            {
                notes.take(schema, keyword);
            }
        }
        let is_lost = self.form.closed || (place.is_root && is_empty && !self.form.maps);
        let needs_rest = overflow || (more.is_some() && is_lost);
        let rest = needs_rest.then(|| {
            let name = free_name("other_properties", &built);
            let text = "JSON text of an object with all other properties; `{}` if there are none";
            built.insert(name.clone(), json!({ "type": "string", "description": text }));
            names_required.push(name.clone());
            notes.changed("other properties as JSON text");
            name
        });
        self.write_members(schema, built, names_required, place);
        if self.form.closed || (is_closed && !self.form.never_closed && !needs_rest) {
            schema.insert("additionalProperties".to_owned(), false.into());
        } else if let (Some(values @ Value::Object(_)), true) = (&more, self.form.maps) {
            let values = self.build(values, &place.inside());
            if values.plan == Plan::Keep {
                schema.insert("additionalProperties".to_owned(), values.schema);
            }
        } else if is_closed {
            notes.changed("`additionalProperties: false`");
        }
        let is_kept = rest.is_none()
            && members.iter().all(|it| {
                it.plan == Plan::Keep && !it.null_is_absent && !it.drops_null && it.name == it.own
            });
        Some(if is_kept { Plan::Keep } else { Plan::Members(Members { members, rest }) })
    }

    fn write_members(
        &mut self,
        schema: &mut Map<String, Value>,
        built: Map<String, Value>,
        required: Vec<String>,
        place: &Place,
    ) {
        if !built.is_empty() || place.is_root || self.form.closed {
            schema.insert("properties".to_owned(), Value::Object(built));
        }
        if required.is_empty() {
            schema.shift_remove("required");
        } else {
            schema.insert("required".to_owned(), required.into());
        }
    }

    /// Declares names in `required` that are not declared, or leaves them out.
    fn declare_required(
        &self,
        schema: &mut Map<String, Value>,
        properties: &mut Map<String, Value>,
        is_closed: bool,
    ) {
        if !self.form.refuses(&objects::UNDECLARED_REQUIRED) && !self.form.closed {
            return;
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| {
                let Some(name) = name.as_str() else { return false };
                if !properties.contains_key(name) && !is_closed {
                    properties.insert(name.to_owned(), json!({}));
                }
                properties.get(name).is_some_and(|it| *it != Value::Bool(false))
            });
        }
    }

    /// The name of a property in the view.
    fn key(&self, own: &str, place: &Place, taken: &Map<String, Value>) -> String {
        let refused = (place.is_root
            && self.form.refuses(&objects::PROPERTY_KEY)
            && !objects::is_plain_key(own))
            || (self.form.refuses(&objects::RESERVED_KEY) && objects::RESERVED.contains(&own));
        if !refused {
            return own.to_owned();
        }
        let plain: String = own
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' })
            .take(objects::LONGEST_KEY - 8)
            .collect();
        let plain =
            if plain.trim_matches('_').is_empty() || objects::RESERVED.contains(&plain.as_str()) {
                format!("property_{}", plain.trim_start_matches(['$', '_']))
            } else {
                plain
            };
        free_name(&plain, taken)
    }

    /// A map as the target takes it.
    fn map(
        &mut self,
        schema: &mut Map<String, Value>,
        values: &Value,
        place: &Place,
        notes: &mut Notes,
    ) -> Plan {
        let built = self.build(values, &place.inside().inside());
        schema.shift_remove("required");
        if self.form.maps && !self.form.closed && built.plan == Plan::Keep {
            schema.insert("additionalProperties".to_owned(), built.schema);
            return Plan::Keep;
        }
        for keyword in ["minProperties", "maxProperties", "propertyNames", "patternProperties"] {
            notes.take(schema, keyword);
        }
        notes.changed("a map, written as a list of keys and values");
        let mut pair = json!({
            "type": "object",
            "properties": { KEY: { "type": "string" }, VALUE: built.schema },
            "required": [KEY, VALUE]
        });
        if self.form.closed {
            pair["additionalProperties"] = false.into();
        }
        schema.insert("type".to_owned(), "array".into());
        schema.insert("items".to_owned(), pair);
        notes.say("a list of keys and values, each key once");
        Plan::Pairs(Box::new(built.plan))
    }

    /// Rewrites the keywords of arrays.
    fn array(&mut self, schema: &mut Map<String, Value>, place: &Place, notes: &mut Notes) -> Plan {
        let is_tuple = schema.contains_key("prefixItems");
        if is_tuple && !self.form.refuses(&crate::feature::arrays::TUPLE) {
            let clean = ["prefixItems", "items"].iter().all(|keyword| match schema.get(*keyword) {
                Some(Value::Array(all)) => {
                    all.iter().all(|it| self.form.accepts_unchanged(it, false))
                }
                Some(inner) => inner.is_boolean() || self.form.accepts_unchanged(inner, false),
                None => true,
            });
            if clean {
                return Plan::Keep;
            }
        }
        let items = match (schema.shift_remove("prefixItems"), schema.shift_remove("items")) {
            (Some(Value::Array(mut places)), rest) => {
                notes.changed("a tuple, written as a list");
                notes.say(&format!("{} elements, each of its own kind", places.len()));
                match rest {
                    Some(Value::Bool(false)) => {}
                    Some(rest @ Value::Object(_)) => places.push(rest),
                    _ => places.push(json!({})),
                }
                Some(json!({ "anyOf": places }))
            }
            (_, Some(Value::Bool(true))) => Some(json!({})),
            (_, Some(Value::Bool(false))) => {
                schema.insert("maxItems".to_owned(), 0.into());
                Some(json!({}))
            }
            (_, items) => items,
        };
        let items = items.or_else(|| self.form.needs_items().then(|| json!({})));
        let Some(items) = items else { return Plan::Keep };
        let Built { schema: items, plan } = self.build(&items, &place.inside());
        schema.insert("items".to_owned(), items);
        match plan {
            Plan::Keep => Plan::Keep,
            plan => Plan::Items(Box::new(plan)),
        }
    }

    fn reference(&mut self, pointer: &str, annotations: Map<String, Value>) -> Built {
        let known = self.definitions.iter().position(|(known, ..)| known == pointer);
        let number = known.unwrap_or_else(|| {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let plain: String = last
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || "_.-".contains(*c))
                .take(60)
                .collect();
            let plain = if plain.is_empty() { "root".to_owned() } else { plain };
            let taken: Map<_, _> =
                self.definitions.iter().map(|(_, name, _)| (name.clone(), Value::Null)).collect();
            self.definitions.push((pointer.to_owned(), free_name(&plain, &taken), None));
            let number = self.definitions.len() - 1;
            let target = self.source.pointer(pointer).cloned().unwrap_or_default();
            let place = Place { is_root: false, depth: 1, followed: vec![pointer.to_owned()] };
            let built = self.build(&without_definitions(target), &place);
            self.definitions[number].2 = Some(built);
            number
        });
        let mut schema = annotations;
        schema.insert(
            "$ref".to_owned(),
            format!("{DEFINITION}{}", self.definitions[number].1).into(),
        );
        self.finish(schema, Plan::Definition(number), false, Notes::default())
    }

    /// A schema for any value.
    fn any(&mut self, known: &Map<String, Value>) -> Built {
        if self.form.typed {
            return self.json_text(Some(known), "any value");
        }
        let schema = known.iter().filter(|(keyword, _)| notes::is_annotation(keyword));
        let schema = schema.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        self.finish(schema, Plan::Keep, false, Notes::default())
    }

    /// A string that holds JSON text.
    fn json_text(&mut self, known: Option<&Map<String, Value>>, why: &str) -> Built {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "string".into());
        let known = known.into_iter().flatten();
        for (keyword, value) in
            known.filter(|(keyword, _)| matches!(keyword.as_str(), "title" | "description"))
        {
            schema.insert(keyword.clone(), value.clone());
        }
        self.changes.push(format!("{why}, written as JSON text"));
        let mut notes = Notes::default();
        notes.say("as JSON text");
        self.finish(schema, Plan::Json, false, notes)
    }

    /// `value` or null.
    fn nullable(&mut self, Built { schema, plan }: Built) -> Built {
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
            && !schema.contains_key("const")
            && found.len() == 1
            && !(found[0] == "object" && plan != Plan::Keep)
        {
            schema.insert("type".to_owned(), json!([found[0], "null"]));
            if let Some(Value::Array(values)) = schema.get_mut("enum") {
                values.push(Value::Null);
            }
            return Built { schema: Value::Object(schema), plan };
        }
        if merge::types_of(&schema).is_some_and(|found| found.contains(&"null")) {
            return Built { schema: Value::Object(schema), plan };
        }
        let or_null = json!({ "type": "null" });
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
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

    /// Leaves out what the target does not take, and says so in the description.
    fn finish(
        &mut self,
        mut schema: Map<String, Value>,
        plan: Plan,
        is_root: bool,
        mut notes: Notes,
    ) -> Built {
        while let Some(keyword) = self.form.keyword_to_drop(&schema, is_root) {
            notes.take(&mut schema, keyword);
        }
        if !is_root {
            for keyword in ["$defs", "definitions", "$anchor", "$dynamicAnchor", "$id", "$schema"] {
                schema.shift_remove(keyword);
            }
        } else {
            schema.shift_remove("$defs");
            schema.shift_remove("definitions");
        }
        self.changes.extend(notes.changes());
        notes.append_to(&mut schema);
        Built { schema: Value::Object(schema), plan }
    }

    fn note_change(&mut self, _schema: &Map<String, Value>, what: &str) {
        self.changes.push(what.to_owned());
    }
}

/// Adds properties of `branches` that `schema` does not declare, as optional ones.
fn declare(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let declared = unite(branches.to_vec());
    let Some(Value::Object(more)) = declared.get("properties") else { return };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, inner) in more {
            properties.entry(name).or_insert_with(|| inner.clone());
        }
    }
}

/// Which properties belong together, for alternatives that are merged.
fn alternatives_hint<'a>(branches: impl Iterator<Item = &'a Map<String, Value>>) -> Option<String> {
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

fn strip_definitions(mut schema: Map<String, Value>) -> Map<String, Value> {
    for keyword in ["$defs", "definitions", "$anchor", "$id", "$schema"] {
        schema.shift_remove(keyword);
    }
    schema
}

fn without_definitions(schema: Value) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(strip_definitions(schema)),
        other => other,
    }
}

fn into_map(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Whether `schema` has alternatives or several types.
fn is_union(schema: &Value) -> bool {
    ["anyOf", "oneOf"].iter().any(|it| schema.get(it).is_some())
        || schema.get("type").is_some_and(Value::is_array)
}

/// `schema` without null among its alternatives or types, if it has it there.
fn without_null(schema: &Value) -> Option<Value> {
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

/// Whether `schema` accepts values of the type `name`, as far as can be seen without following references.
fn takes(schema: &Value, name: &str) -> bool {
    let Value::Object(schema) = schema else { return true };
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        return branches.iter().any(|branch| takes(branch, name));
    }
    types_of(schema).is_none_or(|found| found.contains(&name))
}

/// `wanted`, or the first name with a number that is not taken.
fn free_name(wanted: &str, taken: &Map<String, Value>) -> String {
    if !taken.contains_key(wanted) {
        return wanted.to_owned();
    }
    (2..)
        .map(|number| format!("{wanted}_{number}"))
        .find(|name| !taken.contains_key(name))
        .unwrap_or_default()
}
