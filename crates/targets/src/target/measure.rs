//! Sizes of a tool that targets limit.

use std::fmt;

use serde_json::{Map, Value};
use toolbond_contract::Rule;

use super::Measure;
use super::rules::{DESCRIPTION_LENGTH, SCHEMA_SIZE, TOOL_COUNT};
use crate::node::{Node, walk};

/// Measures `tool`.
pub(crate) fn measure(tool: &Map<String, Value>) -> Vec<(Measure, usize)> {
    let mut counts = vec![];
    if let Some(description) = tool.get("description").and_then(Value::as_str) {
        counts.push((Measure::Description, description.chars().count()));
    }
    if let Some(schema) = tool.get("inputSchema") {
        counts.push((Measure::SchemaBytes, schema.to_string().len()));
        counts.extend(measure_schema(schema));
    }
    counts
}

/// Measures an input schema, except for its bytes.
pub(crate) fn measure_schema(schema: &Value) -> Vec<(Measure, usize)> {
    let [mut properties, mut optional, mut unions, mut values, mut characters] = [0; 5];
    walk(schema, &mut |node| {
        if let Some(members) = node.get("properties").and_then(Value::as_object) {
            let required = node.get("required").and_then(Value::as_array).map_or(0, |names| {
                names
                    .iter()
                    .filter(|name| name.as_str().is_some_and(|it| members.contains_key(it)))
                    .count()
            });
            properties += members.len();
            // Definitions do not count where they are defined.
            optional +=
                if is_definition(node) { 0 } else { members.len().saturating_sub(required) };
            characters += members.keys().map(String::len).sum::<usize>();
        }
        let is_union =
            node.has("anyOf") || node.has("oneOf") || node.get("type").is_some_and(Value::is_array);
        let is_property = node.keyword == Some("properties") && !is_definition(node);
        unions += usize::from(is_union && is_property);
        if let Some(all) = node.get("enum").and_then(Value::as_array) {
            values += all.len();
            characters += all.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
        }
    });
    vec![
        (Measure::Depth, depth(schema, 0)),
        (Measure::Properties, properties),
        (Measure::OptionalProperties, optional),
        (Measure::UnionProperties, unions),
        (Measure::EnumValues, values),
        (Measure::NameCharacters, characters),
    ]
}

/// Whether the node is in a definition.
fn is_definition(node: &Node<'_>) -> bool {
    node.path.steps().iter().any(|step| matches!(step.keyword, "$defs" | "definitions"))
}

/// The nested levels of objects, without following references.
fn depth(schema: &Value, above: usize) -> usize {
    let Value::Object(map) = schema else { return above };
    if above > 256 {
        return above;
    }
    let mut deepest = above;
    toolbond_contract::subschemas::each(map, |step, inner| {
        let nested =
            matches!(step.keyword, "properties" | "additionalProperties" | "patternProperties");
        deepest = deepest.max(depth(inner, above + usize::from(nested)));
    });
    deepest
}

impl Measure {
    /// The rule that a finding names, and the member of the tool that it is about.
    pub(crate) fn rule(self) -> (&'static Rule, &'static str) {
        match self {
            Self::Tools => (&TOOL_COUNT, ""),
            Self::Description => (&DESCRIPTION_LENGTH, "description"),
            _ => (&SCHEMA_SIZE, "inputSchema"),
        }
    }

    /// What is wrong beyond the limit.
    pub(crate) const fn note(self) -> &'static str {
        match self {
            Self::Tools => "too many tools",
            Self::Description => "the description is too long",
            Self::SchemaBytes => "the input schema has too many bytes",
            Self::Depth => "the input schema is nested too deeply",
            Self::Properties => "the input schema has too many properties",
            Self::OptionalProperties => "too many properties are optional",
            Self::UnionProperties => "too many properties have several types",
            Self::EnumValues => "the enums have too many values",
            Self::NameCharacters => "names and enum values have too many characters",
        }
    }
}

/// What is counted, in the plural.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tools => "tools",
            Self::Description => "characters in the description",
            Self::SchemaBytes => "bytes in the input schema",
            Self::Depth => "nested levels",
            Self::Properties => "properties",
            Self::OptionalProperties => "optional properties",
            Self::UnionProperties => "properties with several types",
            Self::EnumValues => "enum values",
            Self::NameCharacters => "characters in names and enum values",
        })
    }
}
