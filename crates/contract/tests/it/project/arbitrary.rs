//! Arbitrary JSON as a tool or a result: no panic, nothing lost.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, Value, json};
use toolbond_contract::{
    Form, MARKER, ProjectError, ProjectErrorKind, Revision, lift_result, lift_tool, project_result,
    project_tool,
};

use crate::runner;

const FORMS: [Form; 5] =
    [Form::Undeclared, Form::Natural, Form::Object, Form::NullableObject, Form::Envelope];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("project/arbitrary/tools", || run(tool(), tools_survive)),
        Trial::test("project/arbitrary/results", || run(result(), results_survive)),
        Trial::test("project/arbitrary/anything", || run(json_value(), anything_survives)),
        Trial::test("project/arbitrary/deep_schemas_are_refused", deep_schemas),
        Trial::test("project/arbitrary/long_reference_chains", long_chains),
        Trial::test("project/arbitrary/long_keys_are_refused", long_keys),
        Trial::test("project/arbitrary/long_names_are_refused", long_names),
        Trial::test("project/arbitrary/a_long_name_is_kept_once", one_long_name),
        Trial::test("project/arbitrary/nested_inherited_names", nested_inherited_names),
        Trial::test("project/arbitrary/many_branches", many_branches),
    ]
}

fn run<S: Strategy>(
    strategy: S,
    check: fn(&S::Value) -> Result<(), TestCaseError>,
) -> Result<(), Failed> {
    let outcome = runner(512).run(&strategy, |value| check(&value));
    outcome.map_err(|error| error.to_string().into())
}

/// JSON made of the words that matter.
fn json_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "$ref",
        "$id",
        "id",
        "$anchor",
        "$schema",
        "$defs",
        "properties",
        "result",
        "required",
        "type",
        "object",
        "array",
        "items",
        "prefixItems",
        "enum",
        "const",
        "not",
        "oneOf",
        "_meta",
        "content",
        "structuredContent",
        "isError",
        "text",
        MARKER,
        "form",
        "envelope",
        "error",
        "#",
        "#/properties/result",
        "#/$defs/a",
        "a",
        "%",
        "~",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone().prop_map(str::to_owned), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn tool() -> impl Strategy<Value = Value> {
    (json_value(), prop::option::of(json_value()), json_value()).prop_map(
        |(schema, meta, other)| {
            let mut tool = json!({ "name": "t", "outputSchema": schema, "x-other": other });
            if let Some(meta) = meta {
                tool["_meta"] = meta;
            }
            tool
        },
    )
}

fn result() -> impl Strategy<Value = Value> {
    let part = || prop::option::of(json_value());
    (part(), part(), part(), any::<bool>()).prop_map(|(content, structured, meta, error)| {
        let mut result = Map::new();
        let parts = [("structuredContent", structured), ("_meta", meta), ("content", content)];
        result.extend(parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))));
        result.insert("isError".to_owned(), error.into());
        result.into()
    })
}

fn tools_survive(tool: &Value) -> Result<(), TestCaseError> {
    for revision in Revision::PUBLISHED {
        let Ok(projected) = project_tool(tool, &revision) else { continue };
        // The marker is ours: a tool that comes with a fitting one counts as projected.
        if projected.tool.as_ref() == tool {
            continue;
        }
        let again = project_tool(&projected.tool, &revision).map(|again| again.tool.to_string());
        prop_assert_eq!(again, Ok(projected.tool.to_string()));
        let lifted = lift_tool(&projected.tool, &revision).map(|lifted| lifted.tool.to_string());
        prop_assert_eq!(lifted, Ok(tool.to_string()));
    }
    _ = lift_tool(tool, &Revision::V2025_11_25);
    Ok(())
}

fn results_survive(result: &Value) -> Result<(), TestCaseError> {
    for form in FORMS {
        let legacy = Revision::V2025_11_25;
        let project = |result, to| project_result(Cow::Borrowed(result), form, to);
        let Ok(natural) = project(result, &Revision::V2026_07_28) else { continue };
        let members = result.as_object().into_iter().flatten();
        for (key, value) in members.filter(|(key, _)| *key != "content") {
            prop_assert_eq!(&natural[key], value);
        }
        let Ok(sent) = project(result, &legacy) else { continue };
        if sent != natural {
            let again = project(&sent, &legacy).map(|again| again.to_string());
            prop_assert_eq!(again, Ok(sent.to_string()));
            let lifted = lift_result(&sent, form).map(|lifted| lifted.to_string());
            prop_assert_eq!(lifted, Ok(natural.to_string()));
        }
        _ = lift_result(result, form);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "what is checked is that it comes back")]
fn anything_survives(value: &Value) -> Result<(), TestCaseError> {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28, Revision::ABSENT] {
        _ = project_tool(value, &revision);
        _ = lift_tool(value, &revision);
        for form in FORMS {
            _ = project_result(Cow::Borrowed(value), form, &revision);
            _ = lift_result(value, form);
        }
    }
    Ok(())
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
}

/// The depth to which a schema or structured content is followed.
const MAX_DEPTH: usize = 256;
/// The depth of a projected tool or result.
const MAX_PROJECTED_DEPTH: usize = 120;

fn deep_schemas() -> Result<(), Failed> {
    let legacy = Revision::V2025_11_25;
    let tool = |levels| json!({ "name": "t", "outputSchema": nested(levels) });
    // Around the schema are the tool, the envelope and its properties; it has one level more than asked.
    let deepest = MAX_PROJECTED_DEPTH - 4;
    let projected = project_tool(&tool(deepest), &legacy)?.tool.into_owned();
    if lift_tool(&projected, &legacy)?.tool.into_owned() != tool(deepest) {
        return Err("not lifted".into());
    }
    let listed = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [projected] } });
    let _: Value = serde_json::from_str(&listed.to_string())?;
    let veiled = (0..MAX_PROJECTED_DEPTH / 6).fold(
        json!({ "prefixItems": [{}] }),
        |inner, _| json!({ "properties": { "a": { "not": inner } } }),
    );
    let veiled = json!({ "name": "t", "outputSchema": veiled });
    let projected = project_tool(&veiled, &legacy)?.tool.into_owned();
    if *lift_tool(&projected, &legacy)?.tool != veiled {
        return Err("not lifted from behind its veils".into());
    }
    let refused = |error: Option<ProjectError>| {
        error.is_some_and(|error| matches!(error.kind, ProjectErrorKind::Depth { .. }))
    };
    for levels in [deepest + 1, MAX_DEPTH - 1, MAX_DEPTH, 4 * MAX_DEPTH] {
        if !refused(project_tool(&tool(levels), &legacy).err()) {
            return Err(format!("a schema of {levels} levels is projected").into());
        }
    }
    for is_error in [false, true] {
        let result = |levels| json!({ "isError": is_error, "structuredContent": nested(levels) });
        let (last, first) = if is_error { (119, 120) } else { (117, 118) };
        let sent = project_result(Cow::Owned(result(last)), Form::Envelope, &legacy)?.into_owned();
        if lift_result(&sent, Form::Envelope)?["structuredContent"] != nested(last) {
            return Err("not the value that was sent".into());
        }
        if !refused(project_result(Cow::Owned(result(first)), Form::Envelope, &legacy).err()) {
            return Err(format!("a value of {first} levels is sent").into());
        }
    }
    let result = json!({ "structuredContent": [nested(4 * MAX_DEPTH)] });
    if !refused(project_result(Cow::Owned(result), Form::Natural, &Revision::V2026_07_28).err()) {
        return Err("a value that is too deep gets a text block".into());
    }
    Ok(())
}

/// A chain of references is as long as the document, and not to be followed by recursion.
fn long_chains() -> Result<(), Failed> {
    let definitions: Map<_, _> = (0..50_000)
        .map(|at| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) })))
        .collect();
    let tool = json!({
        "name": "t",
        "outputSchema": { "$ref": "#/$defs/d0", "$defs": definitions }
    });
    let projected = project_tool(&tool, &Revision::V2025_11_25)?;
    if projected.form != Form::Envelope {
        return Err(format!("{:?}", projected.form).into());
    }
    Ok(())
}

/// A long key is part of every pointer below it.
fn long_keys() -> Result<(), Failed> {
    let key = "k".repeat(100_000);
    let below: Vec<_> = (0..10_000).map(|_| json!({ "not": { "prefixItems": [] } })).collect();
    let schema = json!({ "properties": { key: { "anyOf": below } } });
    let tool = json!({ "name": "t", "outputSchema": schema });
    match project_tool(&tool, &Revision::V2025_11_25) {
        Err(ProjectError { kind: ProjectErrorKind::PointerBytes { .. }, .. }) => Ok(()),
        Err(error) => Err(error.to_string().into()),
        Ok(_) => Err("projected".into()),
    }
}

fn long_id() -> String {
    format!("http://x/{}/", "a".repeat(200_000))
}

/// A long name is part of every name relative to it.
fn long_names() -> Result<(), Failed> {
    let named: Vec<_> = (0..4_000).map(|at| json!({ "$id": format!("n{at}") })).collect();
    let referring: Vec<_> = (0..4_000).map(|at| json!({ "$ref": format!("n{at}") })).collect();
    for branches in [named, referring] {
        let schema = json!({ "$id": long_id(), "anyOf": branches });
        let tool = json!({ "name": "t", "outputSchema": schema });
        match project_tool(&tool, &Revision::V2025_11_25) {
            Err(ProjectError { kind: ProjectErrorKind::UriBytes { .. }, .. }) => {}
            Err(error) => return Err(error.to_string().into()),
            Ok(_) => return Err("projected".into()),
        }
    }
    Ok(())
}

/// What is inside a schema with a long name may refer to it as often as it likes.
fn one_long_name() -> Result<(), Failed> {
    let branches = vec![json!({ "items": { "$ref": "#" } }); 4_000];
    let tool = json!({ "name": "t", "outputSchema": { "$id": long_id(), "anyOf": branches } });
    let projected = project_tool(&tool, &Revision::V2025_11_25)?;
    if *lift_tool(&projected.tool, &Revision::V2025_11_25)?.tool != tool {
        return Err("not lifted".into());
    }
    Ok(())
}

/// Each level is built once: twice would be a hundred million times here, and never end.
fn nested_inherited_names() -> Result<(), Failed> {
    let schema = (0..27).fold(
        json!({ "type": "integer" }),
        |inner, _| json!({ "properties": { "constructor": inner } }),
    );
    let tool = json!({ "name": "t", "outputSchema": schema });
    let projected = project_tool(&tool, &Revision::V2025_11_25)?;
    if *lift_tool(&projected.tool, &Revision::V2025_11_25)?.tool != tool {
        return Err("not lifted".into());
    }
    Ok(())
}

/// Many branches that all have to change, each referring to another; `cargo xtask bench contract`
/// tells how the time grows.
fn many_branches() -> Result<(), Failed> {
    let branches: Vec<_> = (0..4_000)
        .map(|at| json!({ "not": { "prefixItems": [{ "$ref": format!("#/anyOf/{at}") }] } }))
        .collect();
    let tool = json!({ "name": "t", "outputSchema": { "anyOf": branches } });
    let projected = project_tool(&tool, &Revision::V2025_11_25)?;
    if *lift_tool(&projected.tool, &Revision::V2025_11_25)?.tool != tool {
        return Err("not lifted".into());
    }
    Ok(())
}
