//! Views of schemas that few people write: they lose nothing, and take no more than they must.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_schema::Schema;
use toolbond_targets::{target, targets, view_tools};

use crate::views::problems;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("views/hostile/unusual_schemas", unusual_schemas),
        Trial::test("views/hostile/a_long_chain_of_definitions", a_long_chain_of_definitions),
        Trial::test("views/hostile/many_alternatives", many_alternatives),
        Trial::test("views/hostile/a_key_twice", a_key_twice),
        Trial::test("views/hostile/a_property_twice", a_property_twice),
    ]
}

fn tool(schema: &Value) -> Value {
    json!({ "name": "a", "inputSchema": schema })
}

fn property(schema: &Value) -> Value {
    json!({ "type": "object", "properties": { "p": schema }, "required": ["p"] })
}

#[expect(clippy::too_many_lines, reason = "cases are data")]
fn unusual_schemas() -> Result<(), Failed> {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let cases = [
        (
            json!({ "type": "object", "allOf": [
                { "patternProperties": { "^y": { "type": "string" } } },
                { "patternProperties": { "^x": { "type": "string" } }, "additionalProperties": false }
            ] }),
            vec![json!({ "x1": "a" }), json!({})],
        ),
        (
            json!({ "type": "object", "anyOf": [
                { "patternProperties": { "^x": { "type": "string" } }, "additionalProperties": false },
                { "properties": { "b": { "type": "string" } }, "additionalProperties": false }
            ] }),
            vec![json!({ "x1": "a" }), json!({ "b": "c" })],
        ),
        (
            json!({ "type": "object", "allOf": [{}], "unevaluatedProperties": false, "anyOf": [
                { "properties": { "x": { "type": "string" } } },
                { "properties": { "y": { "type": "string" } } }
            ] }),
            vec![json!({ "x": "a", "y": "b" })],
        ),
        (
            property(
                &json!({ "type": "array", "items": { "type": "object" }, "contains": { "required": ["x"] } }),
            ),
            vec![json!({ "p": [{ "x": 1 }] })],
        ),
        (
            property(&json!({ "type": "array", "items": map, "contains": { "type": "object" } })),
            vec![json!({ "p": [{ "x": "1" }] })],
        ),
        (
            property(
                &json!({ "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } }, "contains": { "minProperties": 1, "maxProperties": 1 } }),
            ),
            vec![json!({ "p": [{ "a": "1" }] })],
        ),
        (
            property(
                &json!({ "type": "object", "additionalProperties": { "type": "string" }, "not": { "type": "array" } }),
            ),
            vec![json!({ "p": { "x": "1" } })],
        ),
        (
            property(&json!({ "type": "object", "not": { "type": "string" } })),
            vec![json!({ "p": { "x": "1" } })],
        ),
        (
            property(
                &json!({ "type": ["object", "array"], "additionalProperties": { "type": "string" }, "maxItems": 1 }),
            ),
            vec![
                json!({ "p": { "x": "1", "y": "2" } }),
                json!({ "p": [1] }),
                json!({ "p": [[1, 2]] }),
            ],
        ),
        (
            property(
                &json!({ "type": ["object", "array", "string"], "additionalProperties": map, "items": map }),
            ),
            vec![
                json!({ "p": { "x": { "y": "z" } } }),
                json!({ "p": [{ "y": "z" }] }),
                json!({ "p": "{}" }),
                json!({ "p": [] }),
            ],
        ),
        (
            property(
                &json!({ "anyOf": [map, { "type": "array", "items": { "type": "object", "properties": { "key": { "type": "string" }, "value": { "type": "string" } }, "required": ["key", "value"] } }] }),
            ),
            vec![
                json!({ "p": { "x": "1" } }),
                json!({ "p": [{ "key": "a", "value": "b" }] }),
                json!({ "p": [] }),
                json!({ "p": {} }),
            ],
        ),
        (
            property(&json!({ "anyOf": [{ "type": "object" }, { "type": "string" }] })),
            vec![json!({ "p": {} }), json!({ "p": "{}" }), json!({ "p": "1" })],
        ),
        (
            property(&json!({})),
            vec![
                json!({ "p": "1" }),
                json!({ "p": 1 }),
                json!({ "p": null }),
                json!({ "p": "null" }),
                json!({ "p": "\"" }),
            ],
        ),
        (
            property(&json!({ "enum": [{ "a": 1 }, [1], "x", null, 1, true] })),
            vec![
                json!({ "p": { "a": 1 } }),
                json!({ "p": [1] }),
                json!({ "p": "x" }),
                json!({ "p": null }),
                json!({ "p": 1 }),
                json!({ "p": true }),
            ],
        ),
        (
            property(&json!({ "const": { "a": { "b": [1, null] } } })),
            vec![json!({ "p": { "a": { "b": [1, null] } } })],
        ),
        (
            json!({ "type": "object", "properties": { "other_properties": { "type": "string" }, "a": {} }, "additionalProperties": true }),
            vec![
                json!({ "other_properties": "{}", "z": 1 }),
                json!({ "other_properties": "x", "other_properties_2": 1 }),
            ],
        ),
        (
            json!({ "type": "object", "properties": { "a b": { "type": "string" }, "a_b": { "type": "integer" }, "a-b": {}, "a$b": {}, "": {}, "__proto__": { "type": "string" } } }),
            vec![json!({ "a b": "1", "a_b": 2, "a$b": 3, "": 4, "__proto__": "5" })],
        ),
        (
            property(
                &json!({ "type": "object", "properties": { "x": { "type": "string" }, "y": { "type": "string" } }, "not": { "required": ["x", "y"] } }),
            ),
            vec![json!({ "p": { "x": "1" } }), json!({ "p": {} })],
        ),
        (
            property(
                &json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } }),
            ),
            vec![json!({ "p": null }), json!({ "p": { "a": "b" } })],
        ),
        (
            property(
                &json!({ "type": ["object", "string"], "additionalProperties": { "type": "string" } }),
            ),
            vec![json!({ "p": "a" }), json!({ "p": { "a": "b" } })],
        ),
        (
            json!({ "type": "object", "properties": { "a b": { "type": "string" }, "c d": { "type": "string" } }, "dependentRequired": { "a b": ["c d"] }, "propertyNames": { "pattern": "^[a-z] [a-z]$" }, "minProperties": 1, "maxProperties": 1 }),
            vec![json!({ "c d": "1" })],
        ),
        (
            json!({ "type": "object", "properties": { "n": { "$ref": "#" }, "m": map } }),
            vec![json!({ "n": { "n": { "m": { "a": "b" } } } })],
        ),
        (
            json!({ "type": "object", "$defs": { "n": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "$ref": "#/$defs/n" } }, { "type": "object", "additionalProperties": { "$ref": "#/$defs/n" } }] } }, "properties": { "a": { "$ref": "#/$defs/n" } }, "required": ["a"] }),
            vec![
                json!({ "a": { "b": [{ "c": "d" }, "e"] } }),
                json!({ "a": "[]" }),
                json!({ "a": [] }),
                json!({ "a": {} }),
            ],
        ),
        (
            property(
                &json!({ "type": "array", "prefixItems": [map, { "type": "string" }], "items": false, "uniqueItems": true }),
            ),
            vec![json!({ "p": [{ "a": "b" }, "c"] }), json!({ "p": [] })],
        ),
        (property(&json!({ "type": "array", "items": false })), vec![json!({ "p": [] })]),
        (
            property(&json!({ "type": "number", "enum": [1, 2.5] })),
            vec![json!({ "p": 1 }), json!({ "p": 2.5 })],
        ),
        (
            property(&json!({ "type": ["integer", "null"], "const": null })),
            vec![json!({ "p": null })],
        ),
        (
            property(
                &json!({ "type": ["string", "null"], "enum": ["a", null], "not": { "const": "b" } }),
            ),
            vec![json!({ "p": null }), json!({ "p": "a" })],
        ),
        (
            property(
                &json!({ "oneOf": [{ "type": "object", "properties": { "k": { "const": "a" }, "v": map }, "required": ["k", "v"] }, { "type": "object", "properties": { "k": { "const": "b" }, "v": { "type": "array", "items": { "type": "string" } } }, "required": ["k", "v"] }] }),
            ),
            vec![
                json!({ "p": { "k": "a", "v": { "x": "y" } } }),
                json!({ "p": { "k": "b", "v": ["x"] } }),
                json!({ "p": { "k": "b", "v": [] } }),
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for (schema, values) in &cases {
        let full = Schema::compile(schema).unwrap();
        for value in values {
            assert!(full.is_valid(value), "{value} {schema}");
        }
        for target in targets() {
            let view = view_tools(&[tool(schema)], target).remove(0);
            for problem in problems(&view, target, values) {
                let there = &view.tool["inputSchema"];
                wrong.push(format!("{}: {problem}\n    {schema}\n    {there}", target.name));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Each definition refers to the next: the stack must not grow with them.
#[expect(clippy::unnecessary_wraps, reason = "the form of a trial")]
fn a_long_chain_of_definitions() -> Result<(), Failed> {
    const LENGTH: usize = 1500;
    let next = |n: usize| json!({ "$ref": format!("#/$defs/d{}", (n + 1) % LENGTH) });
    let definition = |n: usize| json!({ "type": "object", "properties": { "next": next(n) } });
    let definitions: Map<_, _> = (0..LENGTH).map(|n| (format!("d{n}"), definition(n))).collect();
    let schema = json!({ "type": "object", "properties": { "a": next(0) }, "$defs": definitions });
    for target in targets() {
        let view = view_tools(&[tool(&schema)], target).remove(0);
        assert_eq!(view.tool["inputSchema"]["type"], "object");
    }
    Ok(())
}

/// Thousands of alternatives are united into one without copying what is known again for each.
fn many_alternatives() -> Result<(), Failed> {
    let branch = |n: usize| json!({ "properties": { "k": { "const": n } }, "required": ["k"] });
    let branches: Vec<_> = (0..4000).map(branch).collect();
    let schema = json!({ "type": "object", "anyOf": branches });
    let target = target("gemini")?;
    let view = view_tools(&[tool(&schema)], target).remove(0);
    let wrong = problems(&view, target, &[json!({ "k": 0 }), json!({ "k": 3999 })]);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Two values for one key are not restored to one of them: the full schema refuses the list.
fn a_key_twice() -> Result<(), Failed> {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let view = view_tools(&[tool(&property(&map))], target("gemini")?).remove(0);
    let twice = json!({ "p": [{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }] });
    assert_eq!(view.restore(twice.clone()), twice);
    Ok(())
}

/// A property that has a place of its own is not replaced by one among the others.
fn a_property_twice() -> Result<(), Failed> {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "additionalProperties": true
    });
    let view = view_tools(&[tool(&schema)], target("openai-strict")?).remove(0);
    for call in [
        json!({ "a": "1", "other_properties": r#"{"a":"2","b":3}"# }),
        json!({ "other_properties": r#"{"a":"2","b":3}"#, "a": "1" }),
    ] {
        assert_eq!(view.restore(call), json!({ "a": "1", "b": 3 }));
    }
    Ok(())
}
