//! How values of a view map to values of the tool.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use toolbond_contract::arguments::read_json_text;
use toolbond_schema::Schema;

/// How a value of a view maps to the value of the tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    /// It is the same value.
    Keep,
    /// It is JSON text.
    Json,
    /// A list of keys and values stands for an object.
    Pairs(Box<Plan>),
    /// Each element maps by this plan.
    Items(Box<Plan>),
    /// The members map by these plans.
    Members(Members),
    /// The first alternative that fits decides.
    Union(Vec<(Value, Plan)>),
    /// The plan of a definition, by its number.
    Definition(usize),
}

/// The members of an object of a view.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Members {
    all: Vec<Member>,
    /// The place of each member, by its name in the view.
    places: HashMap<String, usize>,
    /// The member with JSON text of an object whose members belong into this one.
    rest: Option<String>,
}

impl Members {
    pub(super) fn new(members: Vec<Member>, rest: Option<String>) -> Self {
        let places =
            members.iter().enumerate().map(|(at, member)| (member.name.clone(), at)).collect();
        Self { all: members, places, rest }
    }

    /// The member that the view calls `name`.
    fn get(&self, name: &str) -> Option<&Member> {
        self.places.get(name).and_then(|at| self.all.get(*at))
    }
}

/// A member of an object of a view.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    /// The name in the view.
    pub(super) name: String,
    /// The name in the tool.
    pub(super) own: String,
    pub(super) plan: Plan,
    /// Whether `null` stands for an absent member.
    pub(super) null_is_absent: bool,
    /// Whether an absent member stands for `null` too.
    pub(super) drops_null: bool,
}

/// The names of the members of a pair.
pub(super) const KEY: &str = "key";
pub(super) const VALUE: &str = "value";

/// Nested levels that are mapped. Deeper values stay as they are.
const MAX_DEPTH: usize = 128;

/// The steps that choosing alternatives may take. Alternatives that contain each other would take twice as many for each
/// nested level.
struct Steps(Cell<usize>);

/// The most steps: about a second.
const MAX_STEPS: usize = 20_000_000;

/// The values of an enum that are compared in one step.
const VALUES_PER_STEP: usize = 64;

impl Steps {
    /// As many as values take that were written for a view, and some more.
    fn for_value(value: &Value) -> Self {
        let steps = count(value).saturating_mul(100).saturating_add(10_000);
        Self(Cell::new(steps.min(MAX_STEPS)))
    }

    /// Takes `count` steps; `false` if there is none left.
    fn take(&self, count: usize) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(count));
        left > 0
    }
}

/// The number of values in `value`.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// The plans of a view.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans {
    pub(super) root: Option<Plan>,
    /// The schema and the plan of each definition.
    definitions: Vec<(Value, Plan)>,
    /// The number of each definition, by its name.
    numbers: HashMap<String, usize>,
}

impl Plans {
    pub(super) fn new(root: Plan) -> Self {
        Self { root: Some(root), ..Self::default() }
    }

    /// Adds the definition `name`, whose number is the next.
    pub(super) fn define(&mut self, name: &str, schema: Value, plan: Plan) {
        self.numbers.insert(name.to_owned(), self.definitions.len());
        self.definitions.push((schema, plan));
    }

    /// Maps `value` of the view back.
    pub(super) fn restore(&self, value: Value) -> Value {
        match &self.root {
            Some(plan) => {
                let steps = Steps::for_value(&value);
                self.back(plan, value, MAX_DEPTH, &steps)
            }
            None => value,
        }
    }

    /// Writes `value` of the tool as the view wants it.
    pub(super) fn express(&self, value: &Value) -> Value {
        match &self.root {
            Some(plan) => self.forth(plan, value, MAX_DEPTH),
            None => value.clone(),
        }
    }

    /// The first list in `value` that should stand for an object and does not.
    pub(super) fn unreadable(&self, value: &Value) -> Option<String> {
        self.find_unreadable(self.root.as_ref()?, value, "", MAX_DEPTH)
    }

    fn find_unreadable(
        &self,
        plan: &Plan,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        match (plan, value) {
            (Plan::Pairs(_), Value::Array(pairs)) if !is_map(pairs) => {
                let place = path.trim_start_matches('.');
                Some(format!(
                    "{place}: expected a list of objects with `{KEY}` and `{VALUE}`, each key once"
                ))
            }
            (Plan::Pairs(inner) | Plan::Items(inner), Value::Array(items)) => {
                let is_pairs = matches!(plan, Plan::Pairs(_));
                items.iter().enumerate().find_map(|(index, item)| {
                    let item = if is_pairs { &item[VALUE] } else { item };
                    self.find_unreadable(inner, item, &format!("{path}[{index}]"), depth)
                })
            }
            (Plan::Members(members), Value::Object(object)) => {
                members.all.iter().find_map(|member| {
                    let value = object.get(&member.name)?;
                    self.find_unreadable(
                        &member.plan,
                        value,
                        &format!("{path}.{}", member.name),
                        depth,
                    )
                })
            }
            (Plan::Definition(number), value) => {
                self.find_unreadable(&self.definitions.get(*number)?.1, value, path, depth)
            }
            _ => None,
        }
    }

    fn back(&self, plan: &Plan, value: Value, depth: usize, steps: &Steps) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return value };
        match (plan, value) {
            (Plan::Json, Value::String(text)) => {
                read_json_text(&text).unwrap_or(Value::String(text))
            }
            (Plan::Pairs(inner), Value::Array(pairs)) if is_map(&pairs) => {
                let mut object = Map::new();
                for mut pair in pairs {
                    let value = self.back(inner, pair[VALUE].take(), depth, steps);
                    if let Value::String(key) = pair[KEY].take() {
                        object.insert(key, value);
                    }
                }
                Value::Object(object)
            }
            (Plan::Items(inner), Value::Array(items)) => {
                items.into_iter().map(|item| self.back(inner, item, depth, steps)).collect()
            }
            (Plan::Members(members), Value::Object(object)) => {
                Value::Object(self.members_back(members, object, depth, steps))
            }
            (Plan::Union(branches), value) => {
                let fitting =
                    branches.iter().find(|(schema, _)| self.fits(schema, &value, depth, steps));
                match fitting {
                    Some((_, plan)) => self.back(plan, value, depth, steps),
                    None => value,
                }
            }
            (Plan::Definition(number), value) => match self.definitions.get(*number) {
                Some((_, plan)) => self.back(plan, value, depth, steps),
                None => value,
            },
            (_, value) => value,
        }
    }

    fn members_back(
        &self,
        members: &Members,
        object: Map<String, Value>,
        depth: usize,
        steps: &Steps,
    ) -> Map<String, Value> {
        let mut restored = Map::new();
        let mut others = Map::new();
        for (name, value) in object {
            if members.rest.as_ref() == Some(&name) {
                let text = value.as_str().and_then(read_json_text);
                match text {
                    Some(Value::Object(more)) => others = more,
                    _ if value.is_null() => {}
                    _ => {
                        restored.insert(name, value);
                    }
                }
                continue;
            }
            match members.get(&name) {
                Some(member) if member.null_is_absent && value.is_null() => {}
                Some(member) => {
                    let value = self.back(&member.plan, value, depth, steps);
                    restored.insert(member.own.clone(), value);
                }
                None => {
                    restored.entry(name).or_insert(value);
                }
            }
        }
        // What has a place of its own counts.
        for (name, value) in others {
            restored.entry(name).or_insert(value);
        }
        restored
    }

    fn forth(&self, plan: &Plan, value: &Value, depth: usize) -> Value {
        let Some(depth) = depth.checked_sub(1) else { return value.clone() };
        match (plan, value) {
            (Plan::Json, value) => value.to_string().into(),
            (Plan::Pairs(inner), Value::Object(object)) => object
                .iter()
                .map(|(key, value)| json!({ KEY: key, VALUE: self.forth(inner, value, depth) }))
                .collect(),
            (Plan::Items(inner), Value::Array(items)) => {
                items.iter().map(|item| self.forth(inner, item, depth)).collect()
            }
            (Plan::Members(members), Value::Object(object)) => {
                Value::Object(self.members_forth(members, object, depth))
            }
            (Plan::Union(branches), value) => {
                let written = branches
                    .iter()
                    .enumerate()
                    .map(|(at, (_, plan))| (at, self.forth(plan, value, depth)));
                // The alternative that accepts the value, and that `restore` will choose.
                let chosen = |written: &Value| {
                    let steps = Steps::for_value(written);
                    let fits =
                        |(schema, _): &(Value, Plan)| self.fits(schema, written, depth, &steps);
                    branches.iter().position(fits)
                };
                written
                    .into_iter()
                    .find(|(at, written)| {
                        chosen(written) == Some(*at) && self.accepts(&branches[*at].0, written)
                    })
                    .map_or_else(|| value.clone(), |(_, written)| written)
            }
            (Plan::Definition(number), value) => match self.definitions.get(*number) {
                Some((_, plan)) => self.forth(plan, value, depth),
                None => value.clone(),
            },
            _ => value.clone(),
        }
    }

    fn members_forth(
        &self,
        Members { all: members, rest, .. }: &Members,
        object: &Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut written = Map::new();
        for member in members {
            match object.get(&member.own) {
                Some(Value::Null) if member.drops_null => {}
                Some(value) => {
                    let value = self.forth(&member.plan, value, depth);
                    written.insert(member.name.clone(), value);
                }
                None if member.null_is_absent => {
                    written.insert(member.name.clone(), Value::Null);
                }
                None => {}
            }
        }
        let others = object.iter().filter(|(name, _)| members.iter().all(|it| it.own != **name));
        let others: Map<_, _> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        match rest {
            Some(rest) => {
                written.insert(rest.clone(), Value::Object(others).to_string().into());
            }
            None => written.extend(others),
        }
        written
    }

    /// Whether `schema`, an alternative of this view, accepts `value`.
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let definitions: Map<_, _> = self
            .numbers
            .iter()
            .map(|(name, number)| (name.clone(), self.definitions[*number].0.clone()))
            .collect();
        let whole = json!({ "allOf": [schema], "$defs": definitions });
        Schema::compile(&whole).is_ok_and(|schema| schema.is_valid(value))
    }

    /// Whether `value` looks like one that `schema` describes: its type, its required members and their constants. Only
    /// decides between alternatives. Without steps left, the first alternative has to do.
    fn fits(&self, schema: &Value, value: &Value, depth: usize, steps: &Steps) -> bool {
        let Some(depth) = depth.checked_sub(1).filter(|_| steps.take(1)) else { return true };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let number = reference.strip_prefix(DEFINITION).and_then(|name| self.numbers.get(name));
            let found = number.and_then(|number| self.definitions.get(*number));
            return found.is_none_or(|(schema, _)| self.fits(schema, value, depth, steps));
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            return branches.iter().any(|branch| self.fits(branch, value, depth, steps));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            if !steps.take(values.len() / VALUES_PER_STEP) {
                return true;
            }
            if !values.contains(value) {
                return false;
            }
        }
        if schema.get("const").is_some_and(|constant| constant != value) {
            return false;
        }
        let is_type = |name: &Value| name.as_str().is_none_or(|name| is_type(value, name));
        let typed = match schema.get("type") {
            Some(Value::Array(names)) => names.iter().any(is_type),
            Some(name) => is_type(name),
            None => true,
        };
        if !typed {
            return false;
        }
        match value {
            Value::Array(items) => schema.get("items").is_none_or(|inner| {
                items.iter().take(MAX_DEPTH).all(|item| self.fits(inner, item, depth, steps))
            }),
            Value::Object(object) => {
                let required =
                    schema.get("required").and_then(Value::as_array).into_iter().flatten();
                let has_required =
                    required.filter_map(Value::as_str).all(|name| object.contains_key(name));
                let properties = schema.get("properties").and_then(Value::as_object);
                let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
                has_required
                    && object.iter().all(|(name, value)| {
                        match properties.and_then(|all| all.get(name)) {
                            Some(inner) => self.fits(inner, value, depth, steps),
                            None => !closed,
                        }
                    })
            }
            _ => true,
        }
    }
}

/// What references to definitions of a view start with.
pub(super) const DEFINITION: &str = "#/$defs/";

/// Whether `pairs` stand for an object: each is a pair, and no key is there twice.
fn is_map(pairs: &[Value]) -> bool {
    let mut keys = HashSet::new();
    pairs.iter().all(|pair| is_pair(pair) && keys.insert(pair[KEY].as_str()))
}

fn is_pair(pair: &Value) -> bool {
    pair.as_object().is_some_and(|pair| pair.len() == 2 && pair.contains_key(VALUE))
        && pair[KEY].is_string()
}

/// Whether `value` has the JSON Schema type `name`.
pub(super) fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
