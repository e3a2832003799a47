//! Over the official suite: validity is the same before and after, and lifting undoes projecting.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{
    ProjectErrorKind, Revision, lift_result, lift_tool, project_result, project_tool,
};
use toolbond_harness::suite::{self, File};

use super::official::{self, Example, is_same};

const LEGACY: Revision = Revision::V2025_11_25;

pub(crate) fn trials() -> Vec<Trial> {
    official::files()
        .into_iter()
        .map(|file| {
            Trial::test(format!("project/suite/{}", file.name), move || keeps_validity(&file))
        })
        .collect()
}

fn keeps_validity(file: &File) -> Result<(), Failed> {
    let documents = suite::documents(file.dialect);
    let options = file.options(&documents);
    let compile = |schema: &Value| {
        let schema = options.compile(schema).map_err(|error| error.to_string())?;
        Ok(move |value: &Value| schema.is_valid(value))
    };
    let mut faults = Vec::new();
    for example in official::examples(file) {
        if let Err(fault) = check(&example, compile) {
            faults.push(format!("{}: {fault}", example.name));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn check<V: Fn(&Value) -> bool>(
    example: &Example,
    compile: impl Fn(&Value) -> Result<V, String>,
) -> Result<(), String> {
    let tool = &example.tool;
    let natural = project_tool(tool, &Revision::V2026_07_28).map_err(|error| error.to_string())?;
    if !matches!(natural.tool, Cow::Borrowed(same) if same == tool) {
        return Err("changes on the way to a natural revision".to_owned());
    }
    let projected = match project_tool(tool, &LEGACY) {
        Ok(projected) => projected,
        // A metaschema of the suite's own is not a dialect that is known.
        Err(error) if matches!(error.kind, ProjectErrorKind::UnsupportedDialect { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    let (schema, form) = (&projected.tool["outputSchema"], projected.form);
    if schema["type"] != "object" {
        return Err(format!("{schema} is not of type object"));
    }
    let again = project_tool(&projected.tool, &LEGACY).map_err(|error| error.to_string())?;
    if again.form != form || again.tool != projected.tool {
        return Err("projecting twice changes more".to_owned());
    }
    let lifted = lift_tool(&projected.tool, &LEGACY).map_err(|error| error.to_string())?;
    if !is_same(&lifted.tool, tool) || lifted.form != form {
        return Err(format!("lifted to {}", lifted.tool));
    }
    let before = compile(&tool["outputSchema"]).map_err(|error| format!("before: {error}"))?;
    let after = compile(schema).map_err(|error| format!("{error} after: {schema}"))?;
    for (description, value, valid) in &example.values {
        let result = official::result(value);
        let sent = project_result(Cow::Borrowed(&result), form, &LEGACY)
            .map_err(|error| error.to_string())?;
        let content = &sent["structuredContent"];
        if before(value) != *valid || after(content) != *valid {
            return Err(format!("{description}: {content} should be {valid} under {schema}"));
        }
        let twice = project_result(Cow::Borrowed(&sent), form, &LEGACY)
            .map_err(|error| error.to_string())?;
        let back = lift_result(&sent, form).map_err(|error| error.to_string())?;
        if !is_same(&twice, &sent) || !is_same(&back, &result) {
            return Err(format!("{description}: {sent} lifted to {back}"));
        }
    }
    Ok(())
}
