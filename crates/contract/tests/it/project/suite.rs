//! Over the official suite: validity is the same before and after, and lifting undoes projecting.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use toolbond_contract::{
    ProjectErrorKind, Revision, lift_result, lift_tool, project_result, project_tool,
};
use toolbond_harness::suite::{Documents, File};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Options};

use super::official::{self, Example, is_same};

const LEGACY: Revision = Revision::V2025_11_25;

pub(crate) fn trials() -> Vec<Trial> {
    trials::suite("project/suite", Dialect::ALL, official::is_meant, keeps_validity)
}

fn keeps_validity(file: &File, documents: &Documents) -> Result<(), Failed> {
    let options = file.options(documents);
    let examples =
        official::examples(file).into_iter().map(|example| (example.name.clone(), example));
    trials::check_all(examples, |example| check(example, &options))
}

fn check(example: &Example, options: &Options) -> Result<(), Failed> {
    let tool = &example.tool;
    let natural = project_tool(tool, &Revision::V2026_07_28)?;
    if !matches!(natural.tool, Cow::Borrowed(same) if same == tool) {
        return Err("changes on the way to a natural revision".into());
    }
    let projected = match project_tool(tool, &LEGACY) {
        Ok(projected) => projected,
        // A metaschema of the suite's own is not a dialect that is known.
        Err(error) if matches!(error.kind, ProjectErrorKind::UnsupportedDialect { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let (schema, form) = (&projected.tool["outputSchema"], projected.form);
    if schema["type"] != "object" {
        return Err(format!("{schema} is not of type object").into());
    }
    let again = project_tool(&projected.tool, &LEGACY)?;
    if again.form != form || again.tool != projected.tool {
        return Err("projecting twice changes more".into());
    }
    let lifted = lift_tool(&projected.tool, &LEGACY)?;
    if !is_same(&lifted.tool, tool) || lifted.form != form {
        return Err(format!("lifted to {}", lifted.tool).into());
    }
    let before = options.compile(&tool["outputSchema"])?;
    let after = options.compile(schema).map_err(|error| format!("{error} after: {schema}"))?;
    for (description, value, valid) in &example.values {
        let result = official::result(value);
        let sent = project_result(Cow::Borrowed(&result), form, &LEGACY)?;
        let content = &sent["structuredContent"];
        if before.is_valid(value) != *valid || after.is_valid(content) != *valid {
            let fault = format!("{description}: {content} should be {valid} under {schema}");
            return Err(fault.into());
        }
        let twice = project_result(Cow::Borrowed(&sent), form, &LEGACY)?;
        let back = lift_result(&sent, form)?;
        if !is_same(&twice, &sent) || !is_same(&back, &result) {
            return Err(format!("{description}: {sent} lifted to {back}").into());
        }
    }
    Ok(())
}
