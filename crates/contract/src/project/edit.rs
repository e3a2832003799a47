//! Changes to the schemas inside a schema, carried out so that every reference keeps its target.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::error::ProjectError;
use super::schema_map::SchemaMap;

/// What changes in one schema.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each change is made or not")]
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
    /// The inherited property without which the schema, a dependency of it, has nothing to say.
    pub(crate) only_beside: Option<String>,
    /// Whether its `$ref` goes into `allOf`.
    pub(crate) ref_below: bool,
    /// Whether a draft-07 reader must not see the schema; see [`veil`].
    pub(crate) veil: bool,
    /// Whether `dependencies` becomes `dependentRequired` and `dependentSchemas`.
    pub(crate) split_dependencies: bool,
    /// Whether `contains` goes where it evaluates no items: `{"not":{"not":{"contains":…}}}` in `allOf`.
    pub(crate) contains_apart: bool,
    /// Whether it gives up its names, so that references by name are written as pointers.
    pub(crate) nameless: bool,
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
    /// Whether `$recursiveRef` is written as `$ref`; if the schema is `plain`, also `$dynamicRef`.
    pub(crate) static_recursion: bool,
    /// The `$dynamicAnchor` that takes the place of `$recursiveAnchor`.
    pub(crate) dynamic_anchor: Option<String>,
}

/// A schema after its changes.
pub(crate) struct Rebuilt {
    /// The schema.
    pub(crate) schema: Value,
    /// Where each place is now.
    pub(crate) places: Vec<String>,
    /// Where its keywords are now, below the place when veiled.
    pub(crate) keywords: Vec<String>,
}

impl Plan {
    /// Carries out the changes; what stays at the root of the document around it is the caller's.
    pub(crate) fn carry_out(&self, map: &SchemaMap<'_>) -> Result<Rebuilt, ProjectError> {
        let mut work = Work {
            plan: self,
            map,
            outer: vec![String::new(); map.places.len()],
            inner: vec![String::new(); map.places.len()],
        };
        let (mut old, mut new) = (String::new(), self.prefix.to_owned());
        let mut schema = work.rebuild(map.places[0].schema, &mut old, &mut new);
        if let (Some(id), Value::Object(root)) = (self.root_id, &mut schema) {
            root.shift_insert(0, "$id".to_owned(), id.into());
        }
        work.check_size()?;
        for link in &map.links {
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
        Ok(Rebuilt { schema, places: work.outer, keywords: work.inner })
    }
}

impl Edit {
    pub(super) fn name_of<'a>(&'a self, key: &'a str) -> &'a str {
        self.rename.iter().find(|(from, _)| from == key).map_or(key, |(_, to)| to)
    }
}

/// The books of one [`Plan::carry_out`].
pub(super) struct Work<'a, 'b> {
    pub(super) plan: &'a Plan,
    pub(super) map: &'a SchemaMap<'b>,
    /// Where each place is now: what a reference to it should lead to.
    pub(super) outer: Vec<String>,
    /// Where its keywords are now: below `outer` when veiled.
    pub(super) inner: Vec<String>,
}

impl Work<'_, '_> {
    /// The place that pointers into `resource` start from.
    pub(super) fn root_of(&self, resource: usize) -> &str {
        if resource == 0 && self.plan.root_id.is_some() {
            self.plan.prefix
        } else if self.plan.plain || !self.map.places[resource].is_named {
            ""
        } else {
            &self.outer[resource]
        }
    }

    /// The keywords of `place`, where they are now.
    pub(super) fn keywords_of<'s>(
        &self,
        place: usize,
        schema: &'s mut Value,
    ) -> Option<&'s mut Map<String, Value>> {
        let inner = &self.inner[place];
        schema.pointer_mut(inner.strip_prefix(self.plan.prefix).unwrap_or(inner))?.as_object_mut()
    }
}
