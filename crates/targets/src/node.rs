//! Visiting the subschemas of an input schema, each once.

use std::cell::Cell;

use serde_json::{Map, Value};
use toolbond_contract::Pointer;
use toolbond_contract::subschemas::{DEEPEST, Path, each};

/// A subschema and its place.
pub(crate) struct Node<'a> {
    /// The subschema: an object or a boolean, or anything else that stands where a schema should.
    pub(crate) schema: &'a Value,
    /// The place of the subschema below the root.
    pub(crate) path: &'a Path<'a>,
    /// The keyword that holds the subschema; `None` at the root.
    pub(crate) keyword: Option<&'a str>,
    /// The subschema around it.
    pub(crate) parent: Option<&'a Map<String, Value>>,
    /// The whole input schema.
    pub(crate) root: &'a Value,
    /// The steps that are left for following references.
    pub(crate) steps: &'a Cell<usize>,
}

/// The steps for following references in one schema.
pub(crate) const REFERENCE_STEPS: usize = 500_000;

impl<'a> Node<'a> {
    /// The value of `keyword`.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    /// Whether the subschema has `keyword`.
    pub(crate) fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    /// Whether this is the input schema itself.
    pub(crate) fn is_root(&self) -> bool {
        self.keyword.is_none()
    }

    /// Whether `type` is `name`, or a list that contains it.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        match self.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(list)) => list.iter().any(|one| one == name),
            _ => false,
        }
    }

    /// The place in the input schema.
    pub(crate) fn pointer(&self) -> Pointer {
        self.path.pointer()
    }
}

/// Keywords whose subschemas decide about a value without describing what to write.
const CONDITIONS: [&str; 8] =
    ["not", "if", "then", "else", "contains", "propertyNames", "dependentSchemas", "dependencies"];

/// Calls `visit` with `schema` and each subschema in it that describes values, from the outside in. Does not follow
/// references, and does not look into conditions.
pub(crate) fn walk(schema: &Value, visit: &mut dyn FnMut(&Node<'_>)) {
    start(schema, &CONDITIONS, visit);
}

/// The same, conditions included.
pub(crate) fn walk_all(schema: &Value, visit: &mut dyn FnMut(&Node<'_>)) {
    start(schema, &[], visit);
}

fn start(schema: &Value, skipped: &[&str], visit: &mut dyn FnMut(&Node<'_>)) {
    let path = Path::default();
    let steps = Cell::new(REFERENCE_STEPS);
    let root =
        Node { schema, path: &path, keyword: None, parent: None, root: schema, steps: &steps };
    descend(&root, skipped, visit);
}

fn descend(node: &Node<'_>, skipped: &[&str], visit: &mut dyn FnMut(&Node<'_>)) {
    visit(node);
    let Value::Object(schema) = node.schema else { return };
    if node.path.depth() > DEEPEST {
        return;
    }
    each(schema, |step, inner| {
        if skipped.contains(&step.keyword) {
            return;
        }
        let path = node.path.step(step);
        let inner = Node {
            schema: inner,
            path: &path,
            keyword: Some(step.keyword),
            parent: Some(schema),
            root: node.root,
            steps: node.steps,
        };
        descend(&inner, skipped, visit);
    });
}
