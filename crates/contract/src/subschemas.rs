//! Visiting the schemas inside a schema.
//!
//! ```
//! use serde_json::json;
//! use toolbond_contract::subschemas::each;
//!
//! let schema = json!({ "properties": { "a": {}, "b": {} }, "default": { "not": {} } });
//! let mut found = 0;
//! each(schema.as_object().unwrap(), |step, _| {
//!     assert_eq!(step.keyword, "properties");
//!     found += 1;
//! });
//! assert_eq!(found, 2);
//! ```

use serde_json::{Map, Value};
use toolbond_schema::{Dialect, Pointer, Subschemas};

/// The depth to which nested schemas are visited, several times the default limit. A deeper schema was not admitted,
/// unless an operator raised the limit.
pub const DEEPEST: usize = 256;

/// Returns the dialect that `schema` names in `$schema`. By the specification `$schema` applies only at the root of a
/// resource, but validators, ours among them, follow it anywhere.
#[must_use]
pub fn own_dialect(schema: &Map<String, Value>) -> Option<Dialect> {
    Dialect::from_uri(schema.get("$schema")?.as_str()?)
}

/// A step from a schema to a schema directly inside it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The keyword.
    pub keyword: &'a str,
    /// The name or index, if the keyword has several schemas.
    pub member: Option<Member<'a>>,
}

/// One of several schemas below a keyword.
#[derive(Clone, Copy, Debug)]
pub enum Member<'a> {
    /// By name.
    Name(&'a str),
    /// By number.
    Number(usize),
}

/// Calls `visit` with each schema directly inside `schema`. Data such as `default` and `enum` contains no schemas.
pub fn each<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(Step<'a>, &'a Value)) {
    for (keyword, value) in schema {
        let Some(subschemas) = Subschemas::under(keyword) else { continue };
        let mut one = |member, value| visit(Step { keyword, member }, value);
        match (subschemas, value) {
            (Subschemas::List | Subschemas::OneOrList, Value::Array(list)) => {
                for (number, value) in list.iter().enumerate() {
                    one(Some(Member::Number(number)), value);
                }
            }
            (Subschemas::Named, Value::Object(map)) => {
                for (name, value) in map {
                    one(Some(Member::Name(name)), value);
                }
            }
            (Subschemas::NamedOrNames, Value::Object(map)) => {
                for (name, value) in map.iter().filter(|(_, value)| !value.is_array()) {
                    one(Some(Member::Name(name)), value);
                }
            }
            (Subschemas::One | Subschemas::OneOrList, value) => one(None, value),
            _ => {}
        }
    }
}

/// Calls `visit` with each schema directly inside `schema`, to change it.
pub fn each_mut(schema: &mut Map<String, Value>, mut visit: impl FnMut(Step<'_>, &mut Value)) {
    for (keyword, value) in schema {
        let Some(subschemas) = Subschemas::under(keyword) else { continue };
        let mut one = |member: Option<Member<'_>>, value: &mut Value| {
            visit(Step { keyword, member }, value);
        };
        match (subschemas, value) {
            (Subschemas::List | Subschemas::OneOrList, Value::Array(list)) => {
                for (number, value) in list.iter_mut().enumerate() {
                    one(Some(Member::Number(number)), value);
                }
            }
            (Subschemas::Named, Value::Object(map)) => {
                for (name, value) in map {
                    one(Some(Member::Name(name)), value);
                }
            }
            (Subschemas::NamedOrNames, Value::Object(map)) => {
                for (name, value) in map.iter_mut().filter(|(_, value)| !value.is_array()) {
                    one(Some(Member::Name(name)), value);
                }
            }
            (Subschemas::One | Subschemas::OneOrList, value) => one(None, value),
            _ => {}
        }
    }
}

/// The steps from the root of a schema to a place in it, as a linked list. Writing a pointer at each step would copy all
/// names above it each time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path<'a> {
    last: Option<(&'a Path<'a>, Step<'a>)>,
    depth: usize,
}

impl<'a> Path<'a> {
    /// Appends a step.
    #[must_use]
    pub const fn step(&'a self, step: Step<'a>) -> Self {
        Self { last: Some((self, step)), depth: self.depth + 1 }
    }

    /// The number of steps.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> Vec<Step<'a>> {
        let mut steps = Vec::with_capacity(self.depth);
        let mut here = self;
        while let Some((before, step)) = here.last {
            steps.push(step);
            here = before;
        }
        steps.reverse();
        steps
    }

    /// Converts the path to a pointer.
    #[must_use]
    pub fn pointer(&self) -> Pointer {
        let Some((before, step)) = self.last else { return Pointer::root() };
        let mut pointer = before.pointer().join(step.keyword);
        match step.member {
            Some(Member::Name(name)) => pointer.push(name),
            Some(Member::Number(number)) => pointer.push(number),
            None => {}
        }
        pointer
    }
}
