//! References, written so that they lead to where their targets went.

use serde_json::{Map, Value, json};

use super::bounds;
use super::edit::Work;
use super::error::{ProjectError, ProjectErrorKind};
use super::schema_map::{Link, Target};
use super::uri;

impl Work<'_, '_> {
    pub(super) fn relink(&self, link: &Link<'_>, schema: &mut Value) -> Result<(), ProjectError> {
        let Some((keyword, text)) = self.new_link(link) else { return Ok(()) };
        let holder = &self.map.places[link.holder];
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
    pub(super) fn check_size(&self) -> Result<(), ProjectError> {
        if !self.plan.plain && !self.plan.edits.values().any(|edit| edit.nameless) {
            return Ok(());
        }
        let targets = self.map.links.iter().filter_map(|link| link.target);
        let lengths = targets.map(|target| self.outer[target.place].len());
        bounds::check_total(lengths.fold(0, usize::saturating_add), "")
    }

    /// What a reference has to be written as, where that is not what it was.
    fn new_link(&self, link: &Link<'_>) -> Option<(&'static str, String)> {
        let Some(target) = link.target else { return self.new_outside_link(link) };
        let recursive = link.keyword == "$recursiveRef";
        if let (true, Some(name)) = (recursive, &self.plan.dynamic_anchor) {
            if self.map.places[target.place].schema.get("$recursiveAnchor") == Some(&true.into()) {
                return Some(("$dynamicRef", format!("#{name}")));
            }
        } else if recursive && !self.plan.static_recursion {
            return None;
        }
        let (before, fragment) = uri::split(link.text);
        let is_static = recursive || self.plan.plain && self.plan.static_recursion;
        let keyword = if is_static { "$ref" } else { link.keyword };
        let is_nameless = self.plan.edits.get(&target.place).is_some_and(|edit| edit.nameless);
        if target.by_name && !self.plan.plain && !is_nameless {
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
        (text != link.text || keyword != link.keyword).then_some((keyword, text))
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
        let mut text = self.map.absolute(link)?;
        let (_, fragment) = uri::split(link.text);
        if !fragment.is_empty() {
            text = format!("{text}#{fragment}");
        }
        (text != link.text).then_some((link.keyword, text))
    }
}

/// `from` under the name `to` and with another value, at the same place among its siblings.
fn rename(map: &mut Map<String, Value>, from: &str, to: &str, value: Value) {
    if let Some(at) = map.keys().position(|key| key == from) {
        map.shift_remove(from);
        map.shift_insert(at, to.to_owned(), value);
    }
}
