//! Changes to the schemas inside a schema, carried out so that every reference keeps its target.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolpact_schema::Dialect;

use super::bounds;
use super::error::{ProjectError, ProjectErrorKind};
use super::keyword;
use super::outline::{Link, Outline, Target};
use super::uri;

/// What changes in one schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edit {
    /// Keywords that get another name, which no dialect knows or which means the same.
    pub(crate) rename: Vec<(String, String)>,
    /// Keywords that go; they hold no schema.
    pub(crate) drop: Vec<&'static str>,
    /// Keywords that come, or get another value; they hold no schema.
    pub(crate) put: Vec<(&'static str, Value)>,
    /// Further schemas to satisfy.
    pub(crate) require: Vec<Value>,
    /// Whether properties that JavaScript objects inherit are matched by pattern.
    pub(crate) by_pattern: bool,
    /// Whether its `$ref` goes into `allOf`.
    pub(crate) ref_below: bool,
    /// Whether a draft-07 reader must not see the schema; see [`veil`].
    pub(crate) veil: bool,
}

/// The changes to a schema.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Where the root moves to.
    pub(crate) prefix: &'static str,
    /// By place.
    pub(crate) edits: HashMap<usize, Edit>,
    /// The `$id` that the root gets.
    pub(crate) root_id: Option<&'static str>,
    /// Whether every reference is written as a pointer from the root, and names are given up.
    pub(crate) plain: bool,
    /// Whether `$recursiveRef` is written as `$ref`.
    pub(crate) static_recursion: bool,
}

impl Plan {
    /// Carries out the changes; what stays at the root of the document around it is the caller's.
    pub(crate) fn carry_out(&self, outline: &Outline<'_>) -> Result<Value, ProjectError> {
        let mut work = Work {
            plan: self,
            outline,
            outer: vec![String::new(); outline.places.len()],
            inner: vec![String::new(); outline.places.len()],
        };
        let (mut old, mut new) = (String::new(), self.prefix.to_owned());
        let mut schema = work.rebuild(outline.places[0].schema, &mut old, &mut new);
        if let (Some(id), Value::Object(root)) = (self.root_id, &mut schema) {
            root.shift_insert(0, "$id".to_owned(), id.into());
        }
        work.check_size()?;
        for link in &outline.links {
            work.relink(link, &mut schema)?;
        }
        for (place, _) in self.edits.iter().filter(|(_, edit)| edit.ref_below) {
            if let Some(holder) = work.keywords_of(*place, &mut schema)
                && let Some(reference) = holder.shift_remove("$ref")
                && let Value::Array(list) = holder.entry("allOf").or_insert_with(|| json!([]))
            {
                list.push(json!({ "$ref": reference }));
            }
        }
        Ok(schema)
    }
}

struct Work<'a, 'b> {
    plan: &'a Plan,
    outline: &'a Outline<'b>,
    /// Where each place is now: what a reference to it should lead to.
    outer: Vec<String>,
    /// Where its keywords are now: below `outer` when veiled.
    inner: Vec<String>,
}

impl Work<'_, '_> {
    fn rebuild(&mut self, value: &Value, old: &mut String, new: &mut String) -> Value {
        let Some(place) = self.outline.place_at(old) else {
            return self.rebuild_inside(value, None, old, new);
        };
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
        let inside = self.rebuild_inside(value, edit, old, new);
        new.truncate(length);
        let around = &self.outline.places[place];
        // A schema with a name of its own takes the name along; the veil belongs to what is around.
        let root = match place {
            0 if plan.root_id.is_some() => plan.prefix,
            0 => "",
            _ if around.is_named => self.root_of(self.parent_resource(place)),
            _ => self.root_of(around.resource),
        };
        let fragment = uri::encode(new.strip_prefix(root).unwrap_or(new));
        veil(&inside, around.dialect, &fragment, place)
    }

    fn parent_resource(&self, place: usize) -> usize {
        let mut above = self.outline.places[place].pointer.as_str();
        while let Some(cut) = above.rfind('/') {
            above = &above[..cut];
            if let Some(parent) = self.outline.place_at(above) {
                return self.outline.places[parent].resource;
            }
        }
        0
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
                for (key, value) in map {
                    if edit.is_some_and(|edit| edit.drop.contains(&key.as_str())) {
                        continue;
                    }
                    let name = edit.map_or(key.as_str(), |edit| edit.name_of(key));
                    let value = self.step(value, key, name, old, new);
                    rebuilt.insert(name.to_owned(), value);
                }
                if let Some(edit) = edit {
                    self.finish(edit, &mut rebuilt, old, new);
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

    fn finish(
        &mut self,
        edit: &Edit,
        schema: &mut Map<String, Value>,
        old: &mut String,
        new: &mut String,
    ) {
        for (key, value) in &edit.put {
            schema.insert((*key).to_owned(), value.clone());
        }
        if !edit.require.is_empty()
            && let Value::Array(list) = schema.entry("allOf").or_insert_with(|| json!([]))
        {
            list.extend(edit.require.iter().cloned());
        }
        if edit.by_pattern {
            self.match_by_pattern(schema, old, new);
        }
    }

    /// Moves the properties that JavaScript objects inherit from `properties` to `patternProperties`.
    fn match_by_pattern(
        &mut self,
        schema: &mut Map<String, Value>,
        old: &mut String,
        new: &mut String,
    ) {
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
        let names: Vec<_> = properties
            .keys()
            .filter(|name| keyword::is_inherited_in_javascript(name))
            .cloned()
            .collect();
        for name in names {
            let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
            properties.shift_remove(&name);
            let lengths = (old.len(), new.len());
            old.push_str("/properties");
            new.push_str("/patternProperties");
            // Built again, now with its new place in the books.
            let pattern = format!("^{name}$");
            let original = self.outline.value_at(&format!("{old}/{name}"));
            let value = self.step(original, &name, &pattern, old, new);
            old.truncate(lengths.0);
            new.truncate(lengths.1);
            if let Value::Object(patterns) =
                schema.entry("patternProperties").or_insert_with(|| json!({}))
            {
                patterns.insert(pattern, value);
            }
        }
    }

    /// The place that pointers into `resource` start from.
    fn root_of(&self, resource: usize) -> &str {
        if resource == 0 && self.plan.root_id.is_some() {
            self.plan.prefix
        } else if self.plan.plain || !self.outline.places[resource].is_named {
            ""
        } else {
            &self.inner[resource]
        }
    }

    fn relink(&self, link: &Link<'_>, schema: &mut Value) -> Result<(), ProjectError> {
        let Some((keyword, text)) = self.new_link(link) else { return Ok(()) };
        let holder = &self.outline.places[link.holder];
        if holder.in_data {
            let pointer = holder.pointer.as_str();
            return Err(ProjectError::new(pointer, ProjectErrorKind::DataAsSchema));
        }
        let Some(holder) = self.keywords_of(link.holder, schema) else { return Ok(()) };
        if keyword == link.keyword {
            holder.insert(keyword.to_owned(), text.into());
        } else if !holder.contains_key(keyword) {
            rename(holder, link.keyword, keyword, text.into());
        } else {
            holder.shift_remove(link.keyword);
            if let Value::Array(list) = holder.entry("allOf").or_insert_with(|| json!([])) {
                list.push(json!({ keyword: text }));
            }
        }
        Ok(())
    }

    /// Names are short and pointers may not be: many references by name do not become as many pointers
    /// of any length.
    fn check_size(&self) -> Result<(), ProjectError> {
        if !self.plan.plain {
            return Ok(());
        }
        let targets = self.outline.links.iter().filter_map(|link| link.target);
        let lengths = targets.map(|target| self.outer[target.place].len());
        bounds::check_total(lengths.fold(0, usize::saturating_add), "")
    }

    /// The keywords of `place`, where they are now.
    fn keywords_of<'s>(
        &self,
        place: usize,
        schema: &'s mut Value,
    ) -> Option<&'s mut Map<String, Value>> {
        let inner = &self.inner[place];
        schema.pointer_mut(inner.strip_prefix(self.plan.prefix).unwrap_or(inner))?.as_object_mut()
    }

    /// What a reference has to be written as, where that is not what it was.
    fn new_link(&self, link: &Link<'_>) -> Option<(&'static str, String)> {
        let Some(target) = link.target else { return self.new_outside_link(link) };
        let recursive = link.keyword == "$recursiveRef";
        if recursive && !self.plan.static_recursion {
            return None;
        }
        let (before, fragment) = uri::split(link.text);
        let keyword = if recursive { "$ref" } else { link.keyword };
        if target.by_name && !self.plan.plain {
            return None;
        }
        let pointer = self.pointer_to(target);
        if uri::decode(fragment).is_some_and(|old| old == pointer) && !recursive && !self.plan.plain
        {
            return None;
        }
        let before = if self.plan.plain { "" } else { before };
        let prefixed = pointer
            .strip_prefix(self.plan.prefix)
            .is_some_and(|rest| uri::decode(fragment).as_deref() == Some(rest));
        let text = if prefixed && !target.by_name {
            format!("{before}#{}{fragment}", self.plan.prefix)
        } else {
            format!("{before}#{}", uri::encode(pointer))
        };
        (text != link.text || recursive).then_some((keyword, text))
    }

    fn pointer_to(&self, target: Target) -> &str {
        let place = &self.outer[target.place];
        let root = self.root_of(target.resource);
        // The root of a named schema is found without a pointer, veiled or not.
        if target.place == target.resource && !root.is_empty() {
            return "";
        }
        place.strip_prefix(root).unwrap_or(place)
    }

    /// A reference to another document does not depend on names that are given up.
    fn new_outside_link(&self, link: &Link<'_>) -> Option<(&'static str, String)> {
        if !self.plan.plain {
            return None;
        }
        let mut text = self.outline.absolute(link)?;
        let (_, fragment) = uri::split(link.text);
        if !fragment.is_empty() {
            text = format!("{text}#{fragment}");
        }
        (text != link.text).then_some((link.keyword, text))
    }
}

impl Edit {
    fn name_of<'a>(&'a self, key: &'a str) -> &'a str {
        self.rename.iter().find(|(from, _)| from == key).map_or(key, |(_, to)| to)
    }
}

/// `from` under the name `to` and with another value, at the same place among its siblings.
fn rename(map: &mut Map<String, Value>, from: &str, to: &str, value: Value) {
    if let Some(at) = map.keys().position(|key| key == from) {
        map.shift_remove(from);
        map.shift_insert(at, to.to_owned(), value);
    }
}

/// `schema`, or something that nothing satisfies: a draft-07 reader does not see that it does not,
/// and accepts every value.
fn veil(schema: &Value, dialect: Dialect, fragment: &str, number: usize) -> Value {
    let never = if dialect == Dialect::Draft202012 {
        json!({
            "$dynamicRef": format!("#{fragment}/anyOf/1/$defs/never"),
            "$defs": { "never": { "not": {} } }
        })
    } else {
        json!({
            "$ref": format!("#{fragment}/anyOf/1/$defs/never/$defs/door"),
            "$defs": { "never": {
                "$id": format!("toolpact-never-{number}"),
                "not": {},
                "$defs": { "door": { "$recursiveRef": "#" } }
            } }
        })
    };
    json!({ "anyOf": [schema, never] })
}
