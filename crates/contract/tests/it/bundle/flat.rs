//! The flat form: named cases, and limits.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::bundle::{Document, bundle, flatten, flatten_tool};
use toolbond_harness::trials;
use toolbond_schema::Schema;

use crate::project::official::is_same;

const CASES: &str = include_str!("../../cases/bundle/flat.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trials::file("bundle/flat/cases", CASES, check),
        Trial::test("bundle/flat/tools", check_tool),
        Trial::test("bundle/flat/many_documents_are_admitted", check_many),
        Trial::test("bundle/flat/long_pointers", check_long_pointers),
        Trial::test("bundle/flat/depth", check_depth),
    ]
}

fn check(case: &Value) -> Result<(), Failed> {
    let flat = match (flatten(&case["schema"]), case["refused"].as_str()) {
        (Err(error), Some(reason)) if error.to_string() == reason => return Ok(()),
        (Ok(flat), None) => flat,
        (found, _) => return Err(format!("found {found:?}").into()),
    };
    let Some(expected) = case.get("flat") else {
        let is_borrowed = matches!(flat, Cow::Borrowed(_));
        return if is_borrowed { Ok(()) } else { Err(format!("found {flat}").into()) };
    };
    if !is_same(&flat, expected) {
        return Err(format!("found {flat}").into());
    }
    if !matches!(flatten(&flat)?, Cow::Borrowed(_)) {
        return Err("flattening twice changes more".into());
    }
    for schema in [&case["schema"], &*flat] {
        let compiled = Schema::compile(schema)?;
        for (list, valid) in [("valid", true), ("invalid", false)] {
            for value in case[list].as_array().into_iter().flatten() {
                if compiled.is_valid(value) != valid {
                    return Err(format!("{value} should be {list} under {schema}").into());
                }
            }
        }
    }
    Ok(())
}

/// The root of an input schema keeps the type that the protocol requires. Each schema is flat or not by itself.
fn check_tool() -> Result<(), Failed> {
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
    if !is_same(&flat.tool, &expected) {
        return Err(format!("found {}", flat.tool).into());
    }
    let errors: Vec<_> = flat.errors.iter().map(ToString::to_string).collect();
    if errors != ["#/outputSchema/$ref: the reference `urn:b` would lead elsewhere"] {
        return Err(format!("found {errors:?}").into());
    }
    Ok(())
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
    if Schema::compile(&bundled).is_ok() {
        return Err("the bundle should be refused".into());
    }
    let flat = flatten(&bundled)?;
    Schema::compile(&flat)?;
    Ok(())
}

/// A short name must not become a long pointer, often.
fn check_long_pointers() -> Result<(), Failed> {
    let schema = |references: usize| {
        let references: Map<_, _> =
            (0..references).map(|at| (at.to_string(), json!({ "$ref": "urn:a" }))).collect();
        json!({ "properties": references, "$defs": { "x".repeat(1 << 20): { "$id": "urn:a" } } })
    };
    flatten(&schema(60))?;
    match flatten(&schema(70)) {
        Err(error) if error.to_string().contains("exceed the limit of 67108864") => Ok(()),
        _ => Err("70 MiB of pointers".into()),
    }
}

fn check_depth() -> Result<(), Failed> {
    let schema = |levels: usize| {
        let inner = json!({ "$id": "urn:a" });
        (0..levels).fold(inner, |schema, _| Map::from_iter([("not".to_owned(), schema)]).into())
    };
    flatten(&schema(255))?;
    match flatten(&schema(256)) {
        Err(error) if error.to_string().contains("more than 256 nested levels") => Ok(()),
        found => Err(format!("found {found:?}").into()),
    }
}
