//! Named cases: the seeds (C#, Ruby, the SEP), references, results, what other SDKs send, refusals.

use std::borrow::Cow;
use std::cell::RefCell;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{
    Form, Projection, Revision, lift_result, lift_tool,
    project::{Nullable, Unmarked},
    project_result, project_tool,
};
use toolbond_harness::trials::{check_all, file, named};
use toolbond_schema::Schema;

use super::official;
use super::reader::{Question, agrees, ajv_as};
use crate::{assert_same, assert_verdicts};

const LEGACY: Revision = Revision::V2025_11_25;
const NATURAL: Revision = Revision::V2026_07_28;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        file("project/schemas", include_str!("../../cases/project/schemas.json"), schema),
        file("project/results", include_str!("../../cases/project/results.json"), result),
        file("project/foreign", include_str!("../../cases/project/foreign.json"), foreign),
        file("project/markers", include_str!("../../cases/project/markers.json"), marker),
        file("project/refused", include_str!("../../cases/project/refused.json"), refused),
        Trial::test("project/readers", readers),
    ]
}

/// A schema and values in both shapes. Values of `envelope` are in one, as the schema is; `result` is the schema there where
/// it changes.
fn schema(case: &Value) -> Result<(), Failed> {
    let natural = &case["natural"];
    let mut case = case.clone();
    if let Some(Value::Array(values)) = case.get("envelope").cloned() {
        let inside = case.get("result").unwrap_or(natural).clone();
        case["values"] = values
            .iter()
            .map(|value| json!({ "natural": value, "legacy": { "result": value } }))
            .collect();
        case["legacy"] =
            json!({ "type": "object", "properties": { "result": inside }, "required": ["result"] });
    }
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": natural });
    let nullable = if case["nullable"] == "object" { Nullable::Object } else { Nullable::Envelope };
    let projection = Projection::default().nullable(nullable);

    assert_same(&projection.project_tool(&tool, &NATURAL)?.tool, &tool, "natural");
    let projected = projection.project_tool(&tool, &LEGACY)?;
    assert_same(&projected.tool["outputSchema"], &case["legacy"], "legacy");
    assert_same(&projection.project_tool(&projected.tool, &LEGACY)?.tool, &projected.tool, "twice");
    assert_same(&lift_tool(&projected.tool, &LEGACY)?.tool, &tool, "lifted");

    let (before, after) = (Schema::compile(natural)?, Schema::compile(&case["legacy"])?);
    for value in case["invalid"].as_array().into_iter().flatten() {
        assert!(!before.is_valid(&value["natural"]), "{value}");
        assert!(!after.is_valid(&value["legacy"]), "{value}");
    }
    for value in case["values"].as_array().into_iter().flatten() {
        let result = official::result(&value["natural"]);
        let sent = project_result(Cow::Borrowed(&result), projected.form, &LEGACY)?;
        assert_same(&sent["structuredContent"], &value["legacy"], "value");
        assert_same(&*lift_result(&sent, projected.form)?, &result, "lifted value");
        assert!(before.is_valid(&value["natural"]), "{value}");
        assert!(after.is_valid(&value["legacy"]), "{value}");
    }
    Ok(())
}

/// A result as each kind of revision gets it: `natural` is what it was, and `legacy` what is natural, unless a case says.
fn result(case: &Value) -> Result<(), Failed> {
    let form = form(&case["form"])?;
    let result = &case["result"];
    let expected = case.get("natural").unwrap_or(result);
    let project = |result, to| project_result(Cow::Borrowed(result), form, to);
    let natural = project(result, &NATURAL)?;
    assert_same(&natural, expected, "natural");
    assert_same(&*project(&natural, &NATURAL)?, &natural, "natural twice");
    let sent = project(result, &LEGACY)?;
    assert_same(&sent, case.get("legacy").unwrap_or(expected), "legacy");
    assert_same(&*project(&sent, &LEGACY)?, &sent, "twice");
    assert_same(&*lift_result(&sent, form)?, expected, "lifted");
    Ok(())
}

/// A tool and its results as another SDK sends them. What is `lifted` is what it was, unless a case says.
fn foreign(case: &Value) -> Result<(), Failed> {
    let from = Revision::named(case["from"].as_str());
    let mut tool = json!({ "name": "t", "outputSchema": case["outputSchema"] });
    if let Some(meta) = case.get("_meta") {
        tool["_meta"] = meta.clone();
    }
    let unmarked =
        if case["unmarked"] == "recognised" { Unmarked::Recognised } else { Unmarked::ByRevision };
    let lifted = Projection::default().unmarked(unmarked).lift_tool(&tool, &from)?;
    let expected = case.get("lifted").unwrap_or(&case["outputSchema"]);
    assert_same(&lifted.tool["outputSchema"], expected, "lifted");
    assert_eq!(lifted.form, form(&case["form"])?);
    for result in case["results"].as_array().into_iter().flatten() {
        assert_same(&*lift_result(&result["wire"], lifted.form)?, &result["lifted"], "result");
    }
    Ok(())
}

/// A result with a marker that a peer may have made up. What is lifted is what every client reads,
/// whatever the form of its tool.
fn marker(case: &Value) -> Result<(), Failed> {
    let lifted = lift_result(&case["wire"], form(&case["form"])?)?;
    assert_same(&lifted, &case["lifted"], "lifted");
    for client in ["undeclared", "natural", "object", "nullable", "envelope"] {
        let client = form(&client.into())?;
        let natural = project_result(Cow::Borrowed(&lifted), client, &NATURAL)?;
        let sent = project_result(Cow::Borrowed(&lifted), client, &LEGACY)?;
        assert_same(&*lift_result(&sent, client)?, &natural, "read by a client");
    }
    Ok(())
}

fn refused(case: &Value) -> Result<(), Failed> {
    let tool = json!({ "name": "t", "outputSchema": case["outputSchema"] });
    match project_tool(&tool, &LEGACY) {
        Ok(projected) => Err(format!("projected to {}", projected.tool).into()),
        Err(error) if case["error"] == error.to_string() => Ok(()),
        Err(error) => Err(error.to_string().into()),
    }
}

/// Schemas that a draft-07 reader would misread: valid values stay valid and are accepted, invalid ones stay invalid.
/// Where a reason is given, the reader refuses one all the same.
fn readers() -> Result<(), Failed> {
    let cases = named(include_str!("../../cases/project/readers.json"));
    let refused = cases.iter().filter(|(_, case)| case["refused"].is_string());
    let refused = refused.map(|(name, _)| name.clone()).collect();
    let questions = RefCell::new(Vec::new());
    check_all(cases, |case| {
        questions.borrow_mut().push(question(case)?);
        Ok(())
    })?;
    agrees(ajv_as("draft-07"), &questions.into_inner(), refused)
}

fn question(case: &Value) -> Result<Question, Failed> {
    let natural = &case["schema"];
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": natural });
    let projected = project_tool(&tool, &LEGACY)?;
    let wire = &projected.tool["outputSchema"];
    assert_same(&lift_tool(&projected.tool, &LEGACY)?.tool, &tool, "lifted");
    assert_verdicts(&Schema::compile(natural)?, case);
    let after = Schema::compile(wire)?;
    let mut values = Vec::new();
    for (list, valid) in [("valid", true), ("invalid", false)] {
        for value in case[list].as_array().into_iter().flatten() {
            let result = Cow::Owned(official::result(value));
            let sent =
                project_result(result, projected.form, &LEGACY)?["structuredContent"].clone();
            assert!(after.is_valid(&sent) == valid, "{value} should be {list} under {wire}");
            values.extend(valid.then_some((sent, true)));
        }
    }
    let name = case["name"].as_str().unwrap_or_default().to_owned();
    Ok(Question { name, schema: wire.clone(), values })
}

fn form(name: &Value) -> Result<Form, Failed> {
    Ok(match name.as_str() {
        Some("undeclared") => Form::Undeclared,
        Some("natural") => Form::Natural,
        Some("object") => Form::Object,
        Some("nullable") => Form::NullableObject,
        Some("envelope") => Form::Envelope,
        _ => return Err(format!("no form {name}").into()),
    })
}
