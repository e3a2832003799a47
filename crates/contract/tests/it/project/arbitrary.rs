//! Arbitrary JSON as a tool or a result: no panic, nothing lost, time in proportion to size.

use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};
use toolpact_contract::{
    Form, MARKER, MAX_DEPTH, ProjectError, ProjectErrorKind, Revision, lift_result, lift_tool,
    mirror_result, project_result, project_tool, send_result,
};

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
        Trial::test("project/arbitrary/linear_time", linear_time),
    ]
}

fn run<S: Strategy>(
    strategy: S,
    check: fn(&S::Value) -> Result<(), TestCaseError>,
) -> Result<(), Failed> {
    let config = Config { cases: 512, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
    .run(&strategy, |value| check(&value))
    .map_err(|error| error.to_string().into())
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
        let natural = project_result(result, form, &Revision::V2026_07_28);
        prop_assert!(natural.is_ok_and(|natural| *natural == *result));
        let Ok(sent) = project_result(result, form, &legacy) else { continue };
        if sent.as_ref() != result {
            let again = project_result(&sent, form, &legacy).map(|again| again.to_string());
            prop_assert_eq!(again, Ok(sent.to_string()));
            let lifted = lift_result(&sent, form).map(|lifted| lifted.to_string());
            prop_assert_eq!(lifted, Ok(result.to_string()));
        }
        if let Ok(mirrored) = mirror_result(result) {
            let members = result.as_object().into_iter().flatten();
            for (key, value) in members.filter(|(key, _)| *key != "content") {
                prop_assert_eq!(&mirrored[key], value);
            }
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
            _ = send_result(value, form, &revision);
            _ = lift_result(value, form);
        }
    }
    Ok(())
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
}

fn deep_schemas() -> Result<(), Failed> {
    let legacy = Revision::V2025_11_25;
    let tool = |levels| json!({ "name": "t", "outputSchema": nested(levels) });
    let projected = project_tool(&tool(MAX_DEPTH - 1), &legacy)?.tool.into_owned();
    if lift_tool(&projected, &legacy)?.tool.into_owned() != tool(MAX_DEPTH - 1) {
        return Err("not lifted".into());
    }
    let veiled = (0..MAX_DEPTH / 4).fold(
        json!({ "prefixItems": [{}] }),
        |inner, _| json!({ "properties": { "a": { "not": inner } } }),
    );
    let veiled = json!({ "name": "t", "outputSchema": veiled });
    let projected = project_tool(&veiled, &legacy)?.tool.into_owned();
    if *lift_tool(&projected, &legacy)?.tool != veiled {
        return Err("not lifted from behind its veils".into());
    }
    let deep = tool(4 * MAX_DEPTH);
    let refused = |error: Option<ProjectError>| {
        error.is_some_and(|error| matches!(error.kind, ProjectErrorKind::Depth { .. }))
    };
    if !refused(project_tool(&deep, &legacy).err()) {
        return Err("a schema that is too deep is projected".into());
    }
    let result = json!({ "structuredContent": [nested(4 * MAX_DEPTH)] });
    if !refused(mirror_result(&result).err()) {
        return Err("a value that is too deep is mirrored".into());
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

fn linear_time() -> Result<(), Failed> {
    let time = |size: usize| {
        let branches: Vec<_> = (0..size)
            .map(|at| json!({ "not": { "prefixItems": [{ "$ref": format!("#/anyOf/{at}") }] } }))
            .collect();
        let tool = json!({ "name": "t", "outputSchema": { "anyOf": branches } });
        let start = Instant::now();
        project_tool(&tool, &Revision::V2025_11_25).map(|_| start.elapsed())
    };
    let (small, large) = (time(2_000)?, time(16_000)?);
    // Eight times the size: well below the sixty-four times of a quadratic algorithm.
    if large > small.max(Duration::from_millis(5)) * 30 {
        return Err(format!("{small:?} for 2000 branches, {large:?} for 16000").into());
    }
    Ok(())
}
