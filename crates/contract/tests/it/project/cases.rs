//! Named cases: the seeds (C#, Ruby, the SEP), references, results, what other SDKs send, refusals.

use std::borrow::Cow;
use std::cell::RefCell;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{
    Form, Nullable, Projection, Revision, Unmarked, lift_result, lift_tool, project_result,
    project_tool,
};
use toolbond_harness::trials::{check_all, file, named};
use toolbond_schema::Schema;

use super::official::{self, is_same};
use super::reader::{Question, agrees, ajv_as};

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

fn same(what: &str, found: &Value, wanted: &Value) -> Result<(), Failed> {
    if is_same(found, wanted) {
        return Ok(());
    }
    Err(format!("{what}: expected {wanted}, found {found}").into())
}

/// A schema and values in both shapes.
fn schema(case: &Value) -> Result<(), Failed> {
    let natural = &case["natural"];
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": natural });
    let nullable = if case["nullable"] == "object" { Nullable::Object } else { Nullable::Envelope };
    let projection = Projection::default().nullable(nullable);

    same("natural", &projection.project_tool(&tool, &NATURAL)?.tool, &tool)?;
    let projected = projection.project_tool(&tool, &LEGACY)?;
    same("legacy", &projected.tool["outputSchema"], &case["legacy"])?;
    same("twice", &projection.project_tool(&projected.tool, &LEGACY)?.tool, &projected.tool)?;
    same("lifted", &lift_tool(&projected.tool, &LEGACY)?.tool, &tool)?;

    let (before, after) = (Schema::compile(natural)?, Schema::compile(&case["legacy"])?);
    for value in case["invalid"].as_array().into_iter().flatten() {
        if before.is_valid(&value["natural"]) || after.is_valid(&value["legacy"]) {
            return Err(format!("{value} is valid in one of both shapes").into());
        }
    }
    for value in case["values"].as_array().into_iter().flatten() {
        let result = json!({
            "content": [{ "type": "text", "text": "" }],
            "structuredContent": value["natural"]
        });
        let sent = project_result(Cow::Borrowed(&result), projected.form, &LEGACY)?;
        same("value", &sent["structuredContent"], &value["legacy"])?;
        same("lifted value", &*lift_result(&sent, projected.form)?, &result)?;
        if !before.is_valid(&value["natural"]) || !after.is_valid(&value["legacy"]) {
            return Err(format!("{value} is not valid in both shapes").into());
        }
    }
    Ok(())
}

/// A result as each kind of revision gets it.
fn result(case: &Value) -> Result<(), Failed> {
    let form = form(&case["form"])?;
    let result = &case["result"];
    let project = |result, to| project_result(Cow::Borrowed(result), form, to);
    let natural = project(result, &NATURAL)?;
    same("natural", &natural, &case["natural"])?;
    same("natural twice", &*project(&natural, &NATURAL)?, &natural)?;
    let sent = project(result, &LEGACY)?;
    same("legacy", &sent, &case["legacy"])?;
    same("twice", &*project(&sent, &LEGACY)?, &sent)?;
    same("lifted", &*lift_result(&sent, form)?, &case["natural"])
}

/// A tool and its results as another SDK sends them.
fn foreign(case: &Value) -> Result<(), Failed> {
    let from = Revision::named(case["from"].as_str());
    let mut tool = json!({ "name": "t", "outputSchema": case["outputSchema"] });
    if let Some(meta) = case.get("_meta") {
        tool["_meta"] = meta.clone();
    }
    let unmarked =
        if case["unmarked"] == "recognised" { Unmarked::Recognised } else { Unmarked::ByRevision };
    let lifted = Projection::default().unmarked(unmarked).lift_tool(&tool, &from)?;
    same("lifted", &lifted.tool["outputSchema"], &case["lifted"])?;
    if lifted.form != form(&case["form"])? {
        return Err(format!("expected form {}, found {:?}", case["form"], lifted.form).into());
    }
    for result in case["results"].as_array().into_iter().flatten() {
        same("result", &*lift_result(&result["wire"], lifted.form)?, &result["lifted"])?;
    }
    Ok(())
}

/// A result with a marker that a peer may have made up. What is lifted is what every client reads,
/// whatever the form of its tool.
fn marker(case: &Value) -> Result<(), Failed> {
    let lifted = lift_result(&case["wire"], form(&case["form"])?)?;
    same("lifted", &lifted, &case["lifted"])?;
    for client in ["undeclared", "natural", "object", "nullable", "envelope"] {
        let client = form(&client.into())?;
        let natural = project_result(Cow::Borrowed(&lifted), client, &NATURAL)?;
        let sent = project_result(Cow::Borrowed(&lifted), client, &LEGACY)?;
        same("read by a client", &*lift_result(&sent, client)?, &natural)?;
    }
    Ok(())
}

fn refused(case: &Value) -> Result<(), Failed> {
    let tool = json!({ "name": "t", "outputSchema": case["outputSchema"] });
    match project_tool(&tool, &LEGACY) {
        Ok(projected) => Err(format!("projected to {}", projected.tool).into()),
        Err(error) => same("error", &error.to_string().into(), &case["error"]),
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
    same("lifted", &lift_tool(&projected.tool, &LEGACY)?.tool, &tool)?;
    let (before, after) = (Schema::compile(natural)?, Schema::compile(wire)?);
    let mut values = Vec::new();
    for (list, valid) in [("valid", true), ("invalid", false)] {
        for value in case[list].as_array().into_iter().flatten() {
            let result = Cow::Owned(official::result(value));
            let sent =
                project_result(result, projected.form, &LEGACY)?["structuredContent"].clone();
            if before.is_valid(value) != valid || after.is_valid(&sent) != valid {
                return Err(format!("{value} should be {list} under {natural} and {wire}").into());
            }
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
