//! Over the official suite: validity is the same before and after, and lifting undoes projecting.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use toolbond_contract::{
    Revision, lift_result, lift_tool, project::ProjectErrorKind, project_result, project_tool,
};
use toolbond_harness::suite::{Documents, File};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Options};

use super::official::{self, Example};
use crate::assert_same;

const LEGACY: Revision = Revision::V2025_11_25;

pub(crate) fn trials() -> Vec<Trial> {
    trials::suite("project/suite", Dialect::ALL, official::is_meant, keeps_validity)
}

fn keeps_validity(file: &File, documents: &Documents) -> Result<(), Failed> {
    let options = file.options(documents);
    official::check_each(file, |example| check(example, &options))
}

fn check(example: &Example, options: &Options) -> Result<(), Failed> {
    let tool = &example.tool;
    let natural = project_tool(tool, &Revision::V2026_07_28)?;
    assert!(matches!(natural.tool, Cow::Borrowed(same) if same == tool), "natural: {natural:?}");
    let projected = match project_tool(tool, &LEGACY) {
        Ok(projected) => projected,
        // A metaschema of the suite's own is not a dialect that is known.
        Err(error) if matches!(error.kind, ProjectErrorKind::UnsupportedDialect { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let (schema, form) = (&projected.tool["outputSchema"], projected.form);
    assert_eq!(schema["type"], "object");
    let again = project_tool(&projected.tool, &LEGACY)?;
    assert!(again.form == form && again.tool == projected.tool, "twice: {again:?}");
    let lifted = lift_tool(&projected.tool, &LEGACY)?;
    assert_eq!(lifted.form, form);
    assert_same(&lifted.tool, tool, "lifted");
    example.assert_verdicts(&options.compile(&tool["outputSchema"])?);
    let after = options.compile(schema).map_err(|error| format!("{error} after: {schema}"))?;
    for (description, value, valid) in &example.values {
        let result = official::result(value);
        let sent = project_result(Cow::Borrowed(&result), form, &LEGACY)?;
        let content = &sent["structuredContent"];
        let is_right = after.is_valid(content) == *valid;
        assert!(is_right, "{description}: {content} should be {valid} under {schema}");
        assert_same(&*project_result(Cow::Borrowed(&sent), form, &LEGACY)?, &sent, "sent twice");
        assert_same(&*lift_result(&sent, form)?, &result, "lifted result");
    }
    Ok(())
}
