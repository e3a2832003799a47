//! Builds the input schema of a view, and the plan that maps calls back.

mod array;
mod flatten;
mod object;
mod reference;
mod single;
mod union;

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolbond_schema::Subschemas;

use self::union::is_union;
use super::form::Form;
use super::notes::Notes;
use super::plan::{Plan, Plans};
use crate::Measure;
use crate::target::measure::measure_schema;

/// The subschemas of one view. What is beyond them is JSON text.
const MAX_NODES: usize = 4000;

/// The bytes of definitions that are copied into a view, if the schema is not larger itself.
const MIN_COPIED: usize = 16 << 10;

/// The subschemas that are visited to find references that lead back to themselves. What is left may lead back.
const MAX_STEPS: usize = 500_000;

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
    /// The bytes of definitions that may still be copied, and the size of each.
    bytes: usize,
    sizes: HashMap<String, usize>,
    /// Whether the schema at a pointer refers to itself, and the steps that finding out may still take.
    recursive: HashMap<String, bool>,
    steps: usize,
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
        bytes: source.to_string().len().max(MIN_COPIED),
        sizes: HashMap::new(),
        recursive: HashMap::new(),
        steps: MAX_STEPS,
        optional: form.optional,
        unions: form.unions,
        values: form.values,
        definitions: Vec::new(),
        changes: Vec::new(),
    };
    let place = Place { is_root: true, ..Place::default() };
    let Built { mut schema, plan } = builder.build(source, &place);
    builder.build_definitions();
    let mut plans = Plans::new(plan);
    let mut definitions = Map::new();
    for (_, name, built) in builder.definitions {
        let built = built.unwrap_or(Built { schema: json!({}), plan: Plan::Keep });
        plans.define(&name, built.schema.clone(), built.plan);
        definitions.insert(name, built.schema);
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

    /// Builds a schema without references and `allOf` that the target does not take.
    fn flat(&mut self, mut schema: Map<String, Value>, place: &Place) -> Built {
        if let Some(one_of) = schema.shift_remove("oneOf") {
            // At least one of them holds.
            if schema.contains_key("anyOf") {
                self.changes.push("`oneOf` beside `anyOf`".to_owned());
            } else {
                schema.insert("anyOf".to_owned(), one_of);
            }
        }
        if let Some(Value::Array(branches)) = schema.shift_remove("anyOf") {
            return self.union(schema, &branches, place);
        }
        self.single(schema, place)
    }

    /// A schema for any value.
    fn any(&mut self, known: &Map<String, Value>) -> Built {
        if self.form.typed {
            return self.json_text(Some(known), "any value");
        }
        let is_kept = |keyword: &str| {
            !matches!(keyword, "type" | "required" | "$ref" | "$dynamicRef" | "$recursiveRef")
                && Subschemas::under(keyword).is_none()
        };
        let schema = known.iter().filter(|(keyword, _)| is_kept(keyword));
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
        let removed: &[&str] = if is_root {
            &["$defs", "definitions"]
        } else {
            &["$defs", "definitions", "$anchor", "$dynamicAnchor", "$id", "$schema"]
        };
        schema.retain(|keyword, _| !removed.contains(&keyword.as_str()));
        self.changes.extend(notes.changes());
        notes.append_to(&mut schema);
        Built { schema: Value::Object(schema), plan }
    }
}

fn into_map(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// `wanted`, or the first name with a number that is not taken.
fn free_name(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(wanted) {
        return wanted.to_owned();
    }
    let mut number = 2;
    while is_taken(&format!("{wanted}_{number}")) {
        number += 1;
    }
    format!("{wanted}_{number}")
}
