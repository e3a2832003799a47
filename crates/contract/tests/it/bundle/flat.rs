//! The flat form: named cases, and limits.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::bundle::{Document, bundle, flatten, flatten_tool};
use toolbond_harness::trials;
use toolbond_schema::Schema;

use crate::{assert_same, assert_verdicts, deep, trial};

const CASES: &str = include_str!("../../cases/bundle/flat.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trials::file("bundle/flat/cases", CASES, check),
        trial("bundle/flat/tools", check_tool),
        Trial::test("bundle/flat/many_documents_are_admitted", check_many),
        Trial::test("bundle/flat/limits", check_limits),
    ]
}

fn check(case: &Value) -> Result<(), Failed> {
    let flat = match (flatten(&case["schema"]), case["refused"].as_str()) {
        (Err(error), Some(reason)) if error.to_string() == reason => return Ok(()),
        (Ok(flat), None) => flat,
        (found, _) => return Err(format!("found {found:?}").into()),
    };
    let Some(expected) = case.get("flat") else {
        assert!(matches!(flat, Cow::Borrowed(_)), "found {flat}");
        return Ok(());
    };
    assert_same(&flat, expected, "flat");
    assert!(matches!(flatten(&flat)?, Cow::Borrowed(_)), "flattening twice changes more");
    for schema in [&case["schema"], &*flat] {
        assert_verdicts(&Schema::compile(schema)?, case);
    }
    Ok(())
}

/// The root of an input schema keeps the type that the protocol requires. Each schema is flat or not by itself.
fn check_tool() {
    let tool = json!({
        "name": "a",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "$ref": "urn:a",
            "definitions": {
                "a": { "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:a" }
            }
        },
        "outputSchema": { "$ref": "urn:b", "$defs": { "a": { "$id": "urn:a" } } }
    });
    let flat = flatten_tool(&tool);
    let expected = json!({
        "name": "a",
        "inputSchema": {
            "type": "object",
            "x-type": "object",
            "$ref": "#/$defs/a",
            "$defs": { "a": {} }
        },
        "outputSchema": tool["outputSchema"]
    });
    assert_same(&flat.tool, &expected, "tool");
    let errors: Vec<_> = flat.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["#/outputSchema/$ref: the reference `urn:b` would lead elsewhere"]);
}

/// Documents that all refer to each other: too many paths through embedded resources, and few schemas without them.
fn check_many() -> Result<(), Failed> {
    let uri = |at: usize| format!("https://a.example/{at}");
    let all: Value = (0..20).map(|at| json!({ "$ref": uri(at) })).collect();
    let documents: Vec<_> = (0..20)
        .map(|at| Document::new(uri(at), json!({ "properties": { "a": { "anyOf": all } } })))
        .collect();
    let schema = json!({ "$ref": uri(0) });
    let bundled = bundle(&schema, None, &documents)?;
    assert!(Schema::compile(&bundled).is_err(), "the bundle should be refused");
    Schema::compile(&*flatten(&bundled)?)?;
    Ok(())
}

/// Depth, and that a short name does not become a long pointer, often: just within each limit, and past it.
fn check_limits() -> Result<(), Failed> {
    let pointers = |references: usize| {
        let references: Map<_, _> =
            (0..references).map(|at| (at.to_string(), json!({ "$ref": "urn:a" }))).collect();
        json!({ "properties": references, "$defs": { "x".repeat(1 << 20): { "$id": "urn:a" } } })
    };
    let nested = |levels| deep(levels, json!({ "$id": "urn:a" }));
    for (within, past, reason) in [
        (pointers(60), pointers(70), "exceed the limit of 67108864"),
        (nested(255), nested(256), "more than 256 nested levels"),
    ] {
        flatten(&within)?;
        let refused = flatten(&past).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains(reason), "expected {reason}, found {refused}");
    }
    Ok(())
}
