//! Named cases: what is converted, what is refused, and what the marker restores.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{
    DIALECT_MARKER, Revision, convert_tool, lift_tool, project_tool, restore_tool, to_2020_12,
};
use toolbond_harness::trials::file;
use toolbond_schema::Schema;

use crate::project::official::is_same;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        file("dialect/schemas", include_str!("../../cases/dialect/schemas.json"), schema),
        Trial::test("dialect/leaves_2020_12_alone", leaves_2020_12_alone),
        Trial::test("dialect/is_undone_after_a_projection", is_undone_after_a_projection),
        Trial::test("dialect/input_keeps_its_root_type", input_keeps_its_root_type),
        Trial::test(
            "dialect/ignores_a_marker_that_does_not_fit",
            ignores_a_marker_that_does_not_fit,
        ),
        Trial::test("dialect/is_bounded", is_bounded),
    ]
}

/// A schema and what it becomes, with values that are valid and invalid under both; or why it is refused.
fn schema(case: &Value) -> Result<(), Failed> {
    let original = &case["schema"];
    let converted = match (to_2020_12(original), case["refused"].as_str()) {
        (Ok(converted), None) => converted,
        (Err(error), Some(reason)) if error.to_string() == reason => return Ok(()),
        (found, _) => return Err(format!("found {found:?}").into()),
    };
    if !is_same(&converted, &case["converted"]) {
        return Err(format!("found {converted}").into());
    }
    let tool = json!({ "name": "t", "outputSchema": original });
    let whole = convert_tool(&tool);
    if !is_same(&restore_tool(&whole.tool), &tool) {
        return Err(format!("{} is not restored", whole.tool).into());
    }
    let (before, after) = (Schema::compile(original)?, Schema::compile(&converted)?);
    for (list, valid) in [("valid", true), ("invalid", false)] {
        for value in case[list].as_array().into_iter().flatten() {
            // The engine lets `contains` evaluate items in 2019-09 too, which the specification does not.
            let is_misread = case["misread"] == true && !valid;
            if (before.is_valid(value) != valid && !is_misread) || after.is_valid(value) != valid {
                return Err(format!("{value} should be {list}").into());
            }
        }
    }
    Ok(())
}

fn leaves_2020_12_alone() -> Result<(), Failed> {
    let draft07 = "http://json-schema.org/draft-07/schema#";
    for schema in [
        json!(true),
        json!({ "items": [{}], "definitions": { "a": {} } }),
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "dependencies": {} }),
        json!({ "const": { "$schema": draft07 }, "default": { "$id": "x", "$schema": draft07 } }),
    ] {
        let tool = json!({ "name": "t", "inputSchema": schema, "outputSchema": schema });
        let converted = convert_tool(&tool);
        if !matches!(converted.tool, std::borrow::Cow::Borrowed(_))
            || !converted.findings.is_empty()
        {
            return Err(format!("{converted:?}").into());
        }
    }
    Ok(())
}

/// Converted, then projected; lifted, then restored.
fn is_undone_after_a_projection() -> Result<(), Failed> {
    let draft07 = "http://json-schema.org/draft-07/schema#";
    for meta in
        [json!(null), json!({}), json!({ "a": 1 }), json!({ DIALECT_MARKER: 1 }), json!("x")]
    {
        let mut tool = json!({
            "name": "t",
            "inputSchema": { "type": "object", "$schema": draft07, "dependencies": { "a": ["b"] } },
            "outputSchema": { "$schema": draft07, "items": [{ "$ref": "#/definitions/a" }],
                "additionalItems": { "type": "null" }, "definitions": { "a": { "type": "string" } } }
        });
        if !meta.is_null() {
            tool["_meta"] = meta;
        }
        let converted = convert_tool(&tool).tool.into_owned();
        let projected = project_tool(&converted, &Revision::V2025_11_25)?;
        let lifted = lift_tool(&projected.tool, &Revision::V2025_11_25)?;
        if !is_same(&lifted.tool, &converted) || !is_same(&restore_tool(&lifted.tool), &tool) {
            return Err(format!("{tool} became {}", projected.tool).into());
        }
    }
    Ok(())
}

fn input_keeps_its_root_type() -> Result<(), Failed> {
    let tool = json!({ "name": "t", "inputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "$ref": "#/definitions/a", "definitions": { "a": { "required": ["b"] } }
    } });
    let converted = convert_tool(&tool);
    let expected = json!({ "type": "object", "x-type": "object", "$ref": "#/$defs/a",
        "$defs": { "a": { "required": ["b"] } } });
    if !is_same(&converted.tool["inputSchema"], &expected) {
        return Err(format!("found {}", converted.tool).into());
    }
    if !is_same(&restore_tool(&converted.tool), &tool) {
        return Err("not restored".into());
    }
    Ok(())
}

fn ignores_a_marker_that_does_not_fit() -> Result<(), Failed> {
    let draft07 = "http://json-schema.org/draft-07/schema#";
    for marker in [
        json!({ "inputSchema": { "original": { "$schema": draft07, "type": "array" } } }),
        json!({ "inputSchema": { "$schema": "https://example.com/mine" } }),
        json!({ "outputSchema": { "$schema": draft07 } }),
        json!({ "inputSchema": { "$schema": draft07, "at": -1 } }),
        json!({ "inputSchema": 1 }),
        json!({}),
    ] {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" },
            "_meta": { DIALECT_MARKER: marker } });
        if !is_same(&restore_tool(&tool), &tool) {
            return Err(format!("{tool} is restored").into());
        }
    }
    Ok(())
}

/// Depth, pointers and URIs: what is beyond a limit is refused and stays as it is.
fn is_bounded() -> Result<(), Failed> {
    let tool = |mut schema: Value| {
        schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        let members = [("name".to_owned(), "t".into()), ("outputSchema".to_owned(), schema)];
        Value::from(Map::from_iter(members))
    };
    let nested = |levels| {
        let mut schema = json!({ "items": [{}] });
        for _ in 0..levels {
            schema = Map::from_iter([("not".to_owned(), schema)]).into();
        }
        tool(schema)
    };
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
        let is_borrowed = matches!(converted.tool, std::borrow::Cow::Borrowed(_));
        let right = match reason {
            None => !is_borrowed && found.ends_with("converted"),
            Some(reason) => is_borrowed && found.contains(reason),
        };
        if !right {
            return Err(format!("expected {reason:?}, found {found}").into());
        }
    }
    Ok(())
}
