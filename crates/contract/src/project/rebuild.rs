//! A schema built again with its edits, and the books of where each place went.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolbond_schema::Dialect;

use super::edit::{Edit, Work};
use super::inherited;
use super::uri;

impl Work<'_, '_> {
    pub(super) fn rebuild(&mut self, value: &Value, old: &mut String, new: &mut String) -> Value {
        let Some(place) = self.map.place_at(old) else {
            return self.rebuild_inside(value, None, old, new);
        };
        let plan = self.plan;
        let edit = plan.edits.get(&place);
        let Some(name) = edit.and_then(|edit| edit.only_beside.as_deref()) else {
            return self.rebuild_place(value, place, old, new);
        };
        let length = new.len();
        // References lead to the schema itself, which does not depend on anything.
        new.push_str("/anyOf/1");
        let inside = self.rebuild_place(value, place, old, new);
        new.truncate(length);
        json!({ "anyOf": [inherited::absent(name), inside] })
    }

    fn rebuild_place(
        &mut self,
        value: &Value,
        place: usize,
        old: &mut String,
        new: &mut String,
    ) -> Value {
        self.outer[place].clone_from(new);
        let plan = self.plan;
        let edit = plan.edits.get(&place);
        if !edit.is_some_and(|edit| edit.veil) {
            self.inner[place].clone_from(new);
            return self.rebuild_inside(value, edit, old, new);
        }
        let length = new.len();
        new.push_str("/anyOf/0");
        self.inner[place].clone_from(new);
        let mut inside = self.rebuild_inside(value, edit, old, new);
        new.truncate(length);
        let around = &self.map.places[place];
        let root = match place {
            0 if plan.root_id.is_some() => plan.prefix,
            0 if !around.is_named => "",
            _ => self.root_of(around.resource),
        };
        let fragment = uri::encode(new.strip_prefix(root).unwrap_or(new));
        let names = names_of(&mut inside, place == 0 || around.is_named);
        veil(names, &inside, around.dialect, &fragment, place)
    }

    fn rebuild_inside(
        &mut self,
        value: &Value,
        edit: Option<&Edit>,
        old: &mut String,
        new: &mut String,
    ) -> Value {
        match value {
            Value::Array(list) => {
                let list = list.iter().enumerate();
                Value::Array(
                    list.map(|(at, value)| {
                        let token = at.to_string();
                        self.step(value, &token, &token, old, new)
                    })
                    .collect(),
                )
            }
            Value::Object(map) => {
                let mut rebuilt = Map::new();
                let mut patterns = Map::new();
                let mut contains = Map::new();
                for (key, value) in map {
                    if edit.is_some_and(|edit| edit.drop.contains(&key.as_str())) {
                        continue;
                    }
                    let name = edit.map_or(key.as_str(), |edit| edit.name_of(key));
                    let by_pattern = edit.is_some_and(|edit| edit.by_pattern);
                    let value = match (key.as_str(), value) {
                        ("dependencies", Value::Object(dependencies))
                            if edit.is_some_and(|edit| edit.split_dependencies) =>
                        {
                            self.split_dependencies(dependencies, &mut rebuilt, old, new);
                            continue;
                        }
                        ("contains" | "maxContains" | "minContains", _)
                            if edit.is_some_and(|edit| edit.contains_apart) =>
                        {
                            let at = map.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
                            let length = new.len();
                            let _ = write!(new, "/allOf/{at}/not/not");
                            contains.insert(key.clone(), self.step(value, key, key, old, new));
                            new.truncate(length);
                            continue;
                        }
                        ("properties", Value::Object(properties)) if by_pattern => {
                            let taken = map.get("patternProperties");
                            self.properties(properties, taken, &mut patterns, old, new)
                        }
                        ("dependencies", Value::Object(dependencies)) if by_pattern => {
                            self.dependencies(dependencies, old, new)
                        }
                        _ => self.step(value, key, name, old, new),
                    };
                    rebuilt.insert(name.to_owned(), value);
                }
                if !contains.is_empty()
                    && let Value::Array(list) = rebuilt.entry("allOf").or_insert_with(|| json!([]))
                {
                    list.push(json!({ "not": { "not": contains } }));
                }
                if let Some(edit) = edit {
                    finish(edit, &mut rebuilt, patterns);
                }
                Value::Object(rebuilt)
            }
            value => value.clone(),
        }
    }

    fn step(
        &mut self,
        value: &Value,
        from: &str,
        to: &str,
        old: &mut String,
        new: &mut String,
    ) -> Value {
        let lengths = (old.len(), new.len());
        uri::push(old, from);
        uri::push(new, to);
        let value = self.rebuild(value, old, new);
        old.truncate(lengths.0);
        new.truncate(lengths.1);
        value
    }

    /// `properties`, those that JavaScript objects inherit apart in `patterns`.
    fn properties(
        &mut self,
        properties: &Map<String, Value>,
        taken: Option<&Value>,
        patterns: &mut Map<String, Value>,
        old: &mut String,
        new: &mut String,
    ) -> Value {
        let lengths = (old.len(), new.len());
        let mut rebuilt = Map::new();
        old.push_str("/properties");
        for (name, value) in properties {
            let is_inherited = inherited::is_inherited(name);
            new.push_str(if is_inherited { "/patternProperties" } else { "/properties" });
            if is_inherited {
                let pattern = inherited::pattern(name, taken);
                let value = self.step(value, name, &pattern, old, new);
                patterns.insert(pattern, value);
            } else {
                rebuilt.insert(name.clone(), self.step(value, name, name, old, new));
            }
            new.truncate(lengths.1);
        }
        old.truncate(lengths.0);
        Value::Object(rebuilt)
    }

    /// `dependencies`, lists of names and schemas apart.
    fn split_dependencies(
        &mut self,
        dependencies: &Map<String, Value>,
        rebuilt: &mut Map<String, Value>,
        old: &mut String,
        new: &mut String,
    ) {
        let lengths = (old.len(), new.len());
        old.push_str("/dependencies");
        for (name, value) in dependencies {
            let keyword = if value.is_array() { "dependentRequired" } else { "dependentSchemas" };
            uri::push(new, keyword);
            let value = self.step(value, name, name, old, new);
            new.truncate(lengths.1);
            if let Value::Object(part) = rebuilt.entry(keyword).or_insert_with(|| json!({})) {
                part.insert(name.clone(), value);
            }
        }
        old.truncate(lengths.0);
    }

    /// `dependencies`, lists with inherited names as schemas that say the same.
    fn dependencies(
        &mut self,
        dependencies: &Map<String, Value>,
        old: &mut String,
        new: &mut String,
    ) -> Value {
        let lengths = (old.len(), new.len());
        old.push_str("/dependencies");
        new.push_str("/dependencies");
        let rebuilt = dependencies.iter().map(|(name, value)| {
            let said = value.as_array().and_then(|names| inherited::dependency(name, names));
            (name.clone(), said.unwrap_or_else(|| self.step(value, name, name, old, new)))
        });
        let rebuilt = Value::Object(rebuilt.collect());
        old.truncate(lengths.0);
        new.truncate(lengths.1);
        rebuilt
    }
}

/// What an edit adds to a schema; `patterns` are properties that are matched by pattern now.
fn finish(edit: &Edit, schema: &mut Map<String, Value>, patterns: Map<String, Value>) {
    for (key, value) in &edit.put {
        schema.insert((*key).to_owned(), value.clone());
    }
    if !edit.require.is_empty()
        && let Value::Array(list) = schema.entry("allOf").or_insert_with(|| json!([]))
    {
        list.extend(edit.require.iter().cloned());
    }
    if !patterns.is_empty()
        && let Value::Object(all) = schema.entry("patternProperties").or_insert_with(|| json!({}))
    {
        all.extend(patterns);
    }
}

/// What a schema is known by, taken out of it: a reference by name leads to the veil, not behind it.
fn names_of(schema: &mut Value, is_resource: bool) -> Map<String, Value> {
    let mut names = Map::new();
    let Value::Object(schema) = schema else { return names };
    let of_resource = ["$schema", "$id", "$recursiveAnchor"].iter().filter(|_| is_resource);
    for name in of_resource.chain(&["$anchor", "$dynamicAnchor"]) {
        if let Some(value) = schema.shift_remove(*name) {
            names.insert((*name).to_owned(), value);
        }
    }
    names
}

/// `schema`, or something that nothing satisfies: a draft-07 reader does not see that it does not,
/// and accepts every value.
fn veil(
    mut names: Map<String, Value>,
    schema: &Value,
    dialect: Dialect,
    fragment: &str,
    number: usize,
) -> Value {
    let never = if dialect == Dialect::Draft202012 {
        json!({
            "$dynamicRef": format!("#{fragment}/anyOf/1/$defs/never"),
            "$defs": { "never": { "not": {} } }
        })
    } else {
        json!({
            "$ref": format!("#{fragment}/anyOf/1/$defs/never/$defs/door"),
            "$defs": { "never": {
                "$id": format!("toolbond-never-{number}"),
                "not": {},
                "$defs": { "door": { "$recursiveRef": "#" } }
            } }
        })
    };
    names.insert("anyOf".to_owned(), json!([schema, never]));
    names.into()
}
