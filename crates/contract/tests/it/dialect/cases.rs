//! Named cases: what is converted, what is refused, and what the marker restores.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{
    Revision, convert_tool,
    dialect::{DIALECT_MARKER, to_2020_12},
    lift_tool, project_tool, revert_tool,
};
use toolbond_harness::trials::file;
use toolbond_schema::Schema;

use crate::{assert_same, assert_verdicts, deep, trial};

const DRAFT07: &str = "http://json-schema.org/draft-07/schema#";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        file("dialect/schemas", include_str!("../../cases/dialect/schemas.json"), schema),
        trial("dialect/leaves_2020_12_alone", leaves_2020_12_alone),
        Trial::test("dialect/is_undone_after_a_projection", is_undone_after_a_projection),
        trial("dialect/input_keeps_its_root_type", input_keeps_its_root_type),
        trial("dialect/ignores_a_marker_that_does_not_fit", ignores_a_marker_that_does_not_fit),
        trial("dialect/is_bounded", is_bounded),
    ]
}

/// A schema (`draft-07` where it is of that dialect) and what it becomes, with values that are valid and invalid under both; or why it is refused.
fn schema(case: &Value) -> Result<(), Failed> {
    let mut original = case.get("schema").unwrap_or(&case["draft-07"]).clone();
    if let (Some(_), Value::Object(schema)) = (case.get("draft-07"), &mut original) {
        schema.shift_insert(0, "$schema".to_owned(), DRAFT07.into());
    }
    let converted = match (to_2020_12(&original), case["refused"].as_str()) {
        (Ok(converted), None) => converted,
        (Err(error), Some(reason)) if error.to_string() == reason => return Ok(()),
        (found, _) => return Err(format!("found {found:?}").into()),
    };
    assert_same(&converted, &case["converted"], "converted");
    let tool = json!({ "name": "t", "outputSchema": original });
    assert_same(&revert_tool(&convert_tool(&tool).tool), &tool, "restored");
    assert_verdicts(&Schema::compile(&converted)?, case);
    // The engine lets `contains` evaluate items in 2019-09 too, which the specification does not.
    let read =
        if case["misread"] == true { json!({ "valid": case["valid"] }) } else { case.clone() };
    assert_verdicts(&Schema::compile(&original)?, &read);
    Ok(())
}

fn leaves_2020_12_alone() {
    for schema in [
        json!(true),
        json!({ "items": [{}], "definitions": { "a": {} } }),
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "dependencies": {} }),
        json!({ "const": { "$schema": DRAFT07 }, "default": { "$id": "x", "$schema": DRAFT07 } }),
    ] {
        let tool = json!({ "name": "t", "inputSchema": schema, "outputSchema": schema });
        let converted = convert_tool(&tool);
        let is_same = matches!(converted.tool, Cow::Borrowed(_)) && converted.findings.is_empty();
        assert!(is_same, "{converted:?}");
    }
}

/// Converted, then projected; lifted, then restored.
fn is_undone_after_a_projection() -> Result<(), Failed> {
    for meta in
        [json!(null), json!({}), json!({ "a": 1 }), json!({ DIALECT_MARKER: 1 }), json!("x")]
    {
        let mut tool = json!({
            "name": "t",
            "inputSchema": { "type": "object", "$schema": DRAFT07, "dependencies": { "a": ["b"] } },
            "outputSchema": { "$schema": DRAFT07, "items": [{ "$ref": "#/definitions/a" }],
                "additionalItems": { "type": "null" }, "definitions": { "a": { "type": "string" } } }
        });
        if !meta.is_null() {
            tool["_meta"] = meta;
        }
        let converted = convert_tool(&tool).tool.into_owned();
        let projected = project_tool(&converted, &Revision::V2025_11_25)?;
        let lifted = lift_tool(&projected.tool, &Revision::V2025_11_25)?;
        assert_same(&lifted.tool, &converted, "lifted");
        assert_same(&revert_tool(&lifted.tool), &tool, "restored");
    }
    Ok(())
}

fn input_keeps_its_root_type() {
    let tool = json!({ "name": "t", "inputSchema": {
        "$schema": DRAFT07, "type": "object",
        "$ref": "#/definitions/a", "definitions": { "a": { "required": ["b"] } }
    } });
    let converted = convert_tool(&tool);
    let expected = json!({ "type": "object", "x-type": "object", "$ref": "#/$defs/a",
        "$defs": { "a": { "required": ["b"] } } });
    assert_same(&converted.tool["inputSchema"], &expected, "converted");
    assert_same(&revert_tool(&converted.tool), &tool, "restored");
}

fn ignores_a_marker_that_does_not_fit() {
    for marker in [
        json!({ "inputSchema": { "original": { "$schema": DRAFT07, "type": "array" } } }),
        json!({ "inputSchema": { "$schema": "https://example.com/mine" } }),
        json!({ "outputSchema": { "$schema": DRAFT07 } }),
        json!({ "inputSchema": { "$schema": DRAFT07, "at": -1 } }),
        json!({ "inputSchema": 1 }),
        json!({}),
    ] {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" },
            "_meta": { DIALECT_MARKER: marker } });
        assert_same(&revert_tool(&tool), &tool, "restored");
    }
}

/// Depth, pointers and URIs: what is beyond a limit is refused and stays as it is.
fn is_bounded() {
    let tool = |mut schema: Value| {
        schema["$schema"] = DRAFT07.into();
        let members = [("name".to_owned(), "t".into()), ("outputSchema".to_owned(), schema)];
        Value::from(Map::from_iter(members))
    };
    let nested = |levels| tool(deep(levels, json!({ "items": [{}] })));
    let long = json!({ "properties": { "x".repeat(1 << 20): { "enum": vec![0; 100] } } });
    let ids: Map<_, _> =
        (0..4000).map(|n| (n.to_string(), json!({ "$id": "x".repeat(1 << 13) }))).collect();
    for (tool, reason) in [
        (nested(100), None),
        (nested(130), Some("more than 120 nested levels")),
        (nested(300), Some("more than 256 nested levels")),
        (nested(2000), Some("more than 256 nested levels")),
        (tool(long), Some("bytes of pointers to its places exceed the limit of 67108864")),
        (tool(json!({ "definitions": ids })), Some("exceed the limit of 16777216")),
    ] {
        let converted = convert_tool(&tool);
        let found = converted.findings.first().map(ToString::to_string).unwrap_or_default();
        let is_borrowed = matches!(converted.tool, Cow::Borrowed(_));
        let right = match reason {
            None => !is_borrowed && found.ends_with("converted"),
            Some(reason) => is_borrowed && found.contains(reason),
        };
        assert!(right, "expected {reason:?}, found {found}");
    }
}
