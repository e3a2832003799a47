//! The form in which the output of a tool reaches a client.

use std::collections::HashMap;

use serde_json::Value;
use toolbond_schema::Dialect;

use super::projection::Nullable;
use super::schema_map::SchemaMap;

/// The form in which the output schema and the structured content of a tool reach a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// The tool declares no output schema.
    #[default]
    Undeclared,
    /// The shape that the author wrote.
    Natural,
    /// The shape that the author wrote. The schema, which only objects satisfy, gets `type: "object"` at its root.
    Object,
    /// An object or `null`, with a schema that says `type: "object"` ([`Nullable::Object`]). A `null` goes into the
    /// envelope.
    NullableObject,
    /// In the envelope: `{"result": …}`.
    Envelope,
}

/// The longest chain of references that a proof follows.
const CHAIN: usize = 128;

impl Form {
    /// Decides the form of an output schema toward a legacy revision.
    pub(crate) fn decide(map: &SchemaMap<'_>, nullable: Nullable) -> Self {
        let Value::Object(root) = map.places[0].schema else { return Self::Envelope };
        let ref_rules = ref_rules(map, 0);
        match root.get("type") {
            Some(Value::String(name)) if name == "object" && !ref_rules => Self::Natural,
            Some(Value::Array(names))
                if nullable == Nullable::Object && !ref_rules && is_nullable_object(names) =>
            {
                Self::NullableObject
            }
            // No value is an object and of another type.
            Some(other) if !ref_rules && !allows_objects(other) => Self::Envelope,
            _ if (Proof { map, known: HashMap::new() }).only_objects(0, CHAIN) => Self::Object,
            _ => Self::Envelope,
        }
    }
}

fn is_nullable_object(names: &[Value]) -> bool {
    names.len() == 2 && names.contains(&"object".into()) && names.contains(&"null".into())
}

fn allows_objects(kind: &Value) -> bool {
    kind.as_array().is_some_and(|names| names.contains(&"object".into()))
}

/// Whether the dialect ignores all keywords of this schema but `$ref`.
fn ref_rules(map: &SchemaMap<'_>, place: usize) -> bool {
    let place = &map.places[place];
    place.dialect <= Dialect::Draft7 && place.schema.get("$ref").is_some_and(Value::is_string)
}

/// A proof that only objects satisfy a schema.
struct Proof<'a, 'b> {
    map: &'a SchemaMap<'b>,
    known: HashMap<usize, bool>,
}

impl Proof<'_, '_> {
    /// Returns `false` if there is no proof, for example because the schema refers to itself.
    fn only_objects(&mut self, place: usize, chain: usize) -> bool {
        if chain == 0 {
            return false;
        }
        if let Some(&known) = self.known.get(&place) {
            return known;
        }
        self.known.insert(place, false);
        let proven = self.prove(place, chain - 1);
        self.known.insert(place, proven);
        proven
    }

    fn prove(&mut self, place: usize, chain: usize) -> bool {
        let map = self.map;
        let schema = match map.places[place].schema {
            Value::Bool(all) => return !all,
            Value::Object(schema) => schema,
            _ => return false,
        };
        let referenced = map.links_of(place).any(|link| {
            link.keyword == "$ref"
                && link.target.is_some_and(|target| self.only_objects(target.place, chain))
        });
        if referenced || ref_rules(map, place) {
            return referenced;
        }
        let dialect = map.places[place].dialect;
        schema.iter().any(|(keyword, value)| match (keyword.as_str(), value) {
            ("type", Value::String(name)) => name == "object",
            ("type", Value::Array(names)) => {
                !names.is_empty() && names.iter().all(|name| name == "object")
            }
            ("const", value) => dialect >= Dialect::Draft6 && value.is_object(),
            ("enum", Value::Array(values)) => {
                !values.is_empty() && values.iter().all(Value::is_object)
            }
            ("allOf", Value::Array(_)) => {
                self.branches(place, "allOf").any(|branch| self.only_objects(branch, chain))
            }
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                !branches.is_empty()
                    && self.branches(place, keyword).all(|branch| self.only_objects(branch, chain))
            }
            _ => false,
        })
    }

    fn branches(&self, place: usize, keyword: &str) -> std::vec::IntoIter<usize> {
        let children = &self.map.places[place].children;
        let branches: Vec<_> = children
            .iter()
            .filter(|(under, _)| *under == keyword)
            .map(|(_, branch)| *branch)
            .collect();
        branches.into_iter()
    }
}

/// Whether only objects satisfy `schema`, so that clients of a legacy revision get results without an envelope.
pub(crate) fn is_objects_only(schema: &Value) -> bool {
    SchemaMap::build(schema).is_ok_and(|map| {
        matches!(Form::decide(&map, Nullable::Envelope), Form::Natural | Form::Object)
    })
}
