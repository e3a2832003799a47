//! What a schema says about one place in the arguments of a call.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolbond_schema::{Pointer, Schema};

/// The most ways through the unions of a schema that are followed. A place with more is not repaired.
const MAX_ALTERNATIVES: usize = 64;

/// How many references and nested unions are followed.
const MAX_DEPTH: usize = 32;

/// The most schemas at one place whose names are collected.
const MAX_SCHEMAS: usize = 1000;

/// The schemas that apply together. An empty list allows everything.
type Schemas<'a> = Vec<&'a Value>;

/// One place in the arguments, and the schemas that apply to it.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The value at the place.
    pub(crate) value: &'a Value,
    /// Whether the place is an element of an array.
    pub(crate) is_element: bool,
    /// Whether a `properties` keyword names the place.
    pub(crate) is_declared: bool,
    /// One list of schemas for each way through the unions above the place and at it.
    alternatives: Vec<Schemas<'a>>,
    root: &'a Schema,
}

impl<'a> Place<'a> {
    /// The place `pointer` in `arguments`; `None` where there is no value, or where the schema has too
    /// many alternatives to follow.
    pub(crate) fn find(
        schema: &'a Schema,
        arguments: &'a Value,
        pointer: &Pointer,
    ) -> Option<Self> {
        let mut place = Self {
            value: arguments,
            is_element: false,
            is_declared: false,
            alternatives: expand(schema, schema.source(), 0)?,
            root: schema,
        };
        for token in pointer.tokens() {
            place = place.child(&token)?;
        }
        Some(place)
    }

    /// The member or element `token` of this place.
    fn child(&self, token: &str) -> Option<Self> {
        let value = match self.value {
            Value::Object(members) => members.get(token)?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
        let mut is_declared = false;
        let mut alternatives = Vec::new();
        for schemas in self.possible() {
            let Some(children) = children(schemas, self.value, token) else { continue };
            is_declared |= children.is_declared;
            let mut ways = vec![Vec::new()];
            for schema in children.schemas {
                ways = product(&ways, &expand(self.root, schema, 0)?)?;
            }
            alternatives.extend(ways);
            if alternatives.len() > MAX_ALTERNATIVES {
                return None;
            }
        }
        let (is_element, root) = (self.value.is_array(), self.root);
        Some(Self { value, is_element, is_declared, alternatives, root })
    }

    /// The alternatives that the value can still be meant for: those whose constants it has.
    fn possible(&self) -> impl Iterator<Item = &Schemas<'a>> {
        let is_possible =
            |schemas: &Schemas<'a>| schemas.iter().all(|schema| may_describe(schema, self.value));
        let any = self.alternatives.iter().any(is_possible);
        self.alternatives.iter().filter(move |schemas| !any || is_possible(schemas))
    }

    /// Whether the schema has a use for values of the type of this one, whatever they are.
    ///
    /// Such a value is taken at its word: it is wrong in some other way than its type.
    pub(crate) fn allows_own_type(&self) -> bool {
        self.alternatives.iter().any(|schemas| {
            schemas.iter().all(|schema| {
                allows_type(schema, self.value)
                    && schema.get("enum").is_none()
                    && schema.get("const").is_none()
            })
        })
    }

    /// Whether the schema says `nullable`, a keyword of OpenAPI 3.0, so that `null` has a meaning.
    pub(crate) fn is_nullable(&self) -> bool {
        self.alternatives.iter().flatten().any(|it| it.get("nullable") == Some(&Value::Bool(true)))
    }

    /// Whether the schema takes arrays, and nothing else but `null`.
    pub(crate) fn takes_arrays_only(&self) -> bool {
        let others = [Value::Bool(true), 0.into(), "".into(), Value::Object(Map::new())];
        let allows = |schemas: &Schemas<'a>, value: &Value| {
            schemas.iter().all(|schema| allows_type(schema, value))
        };
        !self.alternatives.iter().any(|all| others.iter().any(|other| allows(all, other)))
    }

    /// The strings that `enum` and `const` name.
    pub(crate) fn strings(&self) -> impl Iterator<Item = &'a str> {
        self.alternatives.iter().flatten().flat_map(|schema| {
            let listed =
                schema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            listed.iter().chain(schema.get("const")).filter_map(Value::as_str)
        })
    }

    /// The names of the properties that some alternative declares.
    pub(crate) fn declared(&self) -> impl Iterator<Item = &'a str> {
        self.possible()
            .flatten()
            .filter_map(|schema| schema.get("properties")?.as_object())
            .flat_map(|properties| properties.keys().map(String::as_str))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Whether some schema says something of the value.
    pub(crate) fn is_described(&self) -> bool {
        self.alternatives.iter().flatten().any(|schema| **schema != Value::Bool(true))
    }

    /// Whether names other than the declared ones have a meaning.
    pub(crate) fn has_patterns(&self) -> bool {
        self.possible().flatten().any(|schema| schema.get("patternProperties").is_some())
    }

    /// Whether each alternative refuses every property that it does not declare.
    pub(crate) fn is_closed(&self) -> bool {
        self.possible().all(|schemas| {
            let mut rest = schemas.iter().flat_map(|schema| {
                ["additionalProperties", "unevaluatedProperties"].map(|keyword| schema.get(keyword))
            });
            let is_false = |rest: &Value| *rest == Value::Bool(false);
            rest.clone().flatten().all(is_false) && rest.any(|rest| rest.is_some())
        })
    }

    /// Whether each alternative requires a property that is not given.
    pub(crate) fn misses_property(&self) -> bool {
        let is_absent =
            |name: &Value| name.as_str().is_some_and(|name| self.value.get(name).is_none());
        self.possible()
            .all(|schemas| schemas.iter().any(|it| branches(it, "required").iter().any(is_absent)))
    }

    /// The names of properties that any schema of the place mentions, also in conditions and in alternatives that the
    /// value cannot be meant for. `None` if they cannot be listed: because of patterns, or of too many schemas.
    pub(crate) fn mentioned(&self) -> Option<HashSet<&'a str>> {
        let mut names = HashSet::new();
        let mut pending: Vec<&'a Value> = self.alternatives.concat();
        let mut seen = HashSet::new();
        while let Some(schema) = pending.pop() {
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            let is_unlisted =
                ["patternProperties", "propertyNames", "$dynamicRef", "$recursiveRef"]
                    .iter()
                    .any(|keyword| schema.get(keyword).is_some());
            if is_unlisted || seen.len() > MAX_SCHEMAS {
                return None;
            }
            if schema.get("$ref").is_some() {
                pending.push(self.root.resolve(schema)?);
            }
            for keyword in ["allOf", "anyOf", "oneOf"] {
                pending.extend(branches(schema, keyword));
            }
            pending.extend(["if", "then", "else", "not"].iter().filter_map(|it| schema.get(it)));
            names.extend(members(schema, "properties").map(|(name, _)| name));
            names.extend(strings(schema.get("required")));
            for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
                for (name, needs) in members(schema, keyword) {
                    names.insert(name);
                    names.extend(strings(Some(needs)));
                    pending.extend(needs.is_object().then_some(needs));
                }
            }
        }
        Some(names)
    }
}

/// The members of the object that `keyword` of `schema` holds.
fn members<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let members = schema.get(keyword).and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// The strings in the array `list`.
fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The schemas of a member or an element.
struct Children<'a> {
    schemas: Schemas<'a>,
    is_declared: bool,
}

/// What `schemas` say together about the member or element `token` of `value`; `None` where one of
/// them does not allow it.
fn children<'a>(schemas: &Schemas<'a>, value: &Value, token: &str) -> Option<Children<'a>> {
    let mut children = Children { schemas: Vec::new(), is_declared: false };
    for schema in schemas {
        let child = if value.is_array() {
            element(schema, token.parse().ok()?)
        } else if let Some(child) = schema.get("properties").and_then(|all| all.get(token)) {
            children.is_declared = true;
            Some(child)
        } else if schema.get("patternProperties").is_some() {
            None
        } else {
            schema.get("additionalProperties")
        };
        if child == Some(&Value::Bool(false)) {
            return None;
        }
        children.schemas.extend(child);
    }
    Some(children)
}

/// What `schema` says about the element `index` of an array.
fn element(schema: &Value, index: usize) -> Option<&Value> {
    let items = schema.get("items");
    let first = schema.get("prefixItems").or(items).and_then(Value::as_array);
    match (first.and_then(|first| first.get(index)), items) {
        (Some(schema), _) => Some(schema),
        (None, Some(Value::Array(_))) => schema.get("additionalItems"),
        (None, items) => items,
    }
}

/// The ways through the unions of `schema`.
fn expand<'a>(root: &'a Schema, schema: &'a Value, depth: usize) -> Option<Vec<Schemas<'a>>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut ways = vec![vec![schema]];
    if schema.get("$ref").is_some() {
        ways = product(&ways, &expand(root, root.resolve(schema)?, depth + 1)?)?;
    }
    if schema.get("$dynamicRef").is_some() || schema.get("$recursiveRef").is_some() {
        return None;
    }
    for part in branches(schema, "allOf") {
        ways = product(&ways, &expand(root, part, depth + 1)?)?;
    }
    for keyword in ["anyOf", "oneOf"] {
        let mut union = Vec::new();
        for branch in branches(schema, keyword) {
            union.extend(expand(root, branch, depth + 1)?);
            if union.len() > MAX_ALTERNATIVES {
                return None;
            }
        }
        if !union.is_empty() {
            ways = product(&ways, &union)?;
        }
    }
    if schema.get("if").is_some() {
        let mut union = Vec::new();
        for keyword in ["then", "else"] {
            match schema.get(keyword) {
                Some(branch) => union.extend(expand(root, branch, depth + 1)?),
                None => union.push(Vec::new()),
            }
        }
        ways = product(&ways, &union)?;
    }
    Some(ways)
}

fn branches<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Each of `ways` together with each of `others`.
fn product<'a>(ways: &[Schemas<'a>], others: &[Schemas<'a>]) -> Option<Vec<Schemas<'a>>> {
    if ways.len() * others.len() > MAX_ALTERNATIVES {
        return None;
    }
    let pairs = ways.iter().flat_map(|way| others.iter().map(move |other| (way, other)));
    Some(pairs.map(|(way, other)| [way.as_slice(), other].concat()).collect())
}

/// Whether `value` can be meant for `schema`: it has its type, and the constants of its properties.
fn may_describe(schema: &Value, value: &Value) -> bool {
    let has_constant = |name: &str, property: &Value| {
        let Some(found) = value.get(name) else { return true };
        let is_listed = |list: &Value| list.as_array().is_none_or(|list| list.contains(found));
        property.get("const").is_none_or(|constant| constant == found)
            && property.get("enum").is_none_or(is_listed)
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    allows_type(schema, value)
        && properties.into_iter().flatten().all(|(name, property)| has_constant(name, property))
}

/// Whether `schema` allows values of the type of `value`.
fn allows_type(schema: &Value, value: &Value) -> bool {
    let names: &[&str] = match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(_) => &["number", "integer"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    let is_named = |kind: &Value| kind.as_str().is_some_and(|kind| names.contains(&kind));
    let is_type = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_named),
        Some(kind) => is_named(kind),
        None => *schema != Value::Bool(false),
    };
    let same = |other: &Value| std::mem::discriminant(other) == std::mem::discriminant(value);
    is_type
        && schema.get("const").is_none_or(same)
        && schema.get("enum").and_then(Value::as_array).is_none_or(|list| list.iter().any(same))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolbond_schema::{Pointer, Schema};

    use super::Place;

    fn allows(schema: &Value, arguments: &Value, pointer: &str) -> Option<bool> {
        let schema = Schema::compile(schema).unwrap();
        let place = Place::find(&schema, arguments, &Pointer::from(pointer));
        place.map(|place| place.allows_own_type())
    }

    #[test]
    fn types_are_found_through_references_and_unions() {
        let schema = json!({
            "properties": {
                "a": { "$ref": "#/$defs/n" },
                "b": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "c": { "anyOf": [{ "type": "integer" }, { "type": "string", "minLength": 9 }] },
                "d": { "items": { "allOf": [{ "type": "integer" }, { "minimum": 1 }] } },
                "e": { "enum": ["x", 1] }
            },
            "additionalProperties": { "type": "boolean" },
            "$defs": { "n": { "type": "number" } }
        });
        let arguments = json!({ "a": "1", "b": "1", "c": "1", "d": ["1"], "e": "y", "f": "1" });
        for (pointer, expected) in [
            ("/a", false),
            ("/b", false),
            ("/c", true),
            ("/d/0", false),
            ("/e", false),
            ("/f", false),
        ] {
            assert_eq!(allows(&schema, &arguments, pointer), Some(expected), "{pointer}");
        }
    }

    #[test]
    fn a_constant_chooses_the_branch() {
        let schema = json!({ "oneOf": [
            { "properties": { "kind": { "const": "a" }, "n": { "type": "integer" } } },
            { "properties": { "kind": { "const": "b" }, "n": { "type": "string" } } }
        ] });
        assert_eq!(allows(&schema, &json!({ "kind": "a", "n": "1" }), "/n"), Some(false));
        assert_eq!(allows(&schema, &json!({ "kind": "b", "n": "1" }), "/n"), Some(true));
        assert_eq!(allows(&schema, &json!({ "n": "1" }), "/n"), Some(true));
    }

    #[test]
    fn gives_up_where_there_are_too_many_alternatives() {
        let union = json!({ "anyOf": vec![json!({ "type": "integer" }); 9] });
        let schema = json!({ "allOf": [union, union] });
        assert_eq!(allows(&schema, &json!("1"), ""), None);
        let endless = json!({ "$ref": "#" });
        assert_eq!(allows(&endless, &json!("1"), ""), None);
    }
}
