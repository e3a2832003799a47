//! The required cases of the official suite: validity is the same after converting, by us and by Ajv 2020-12.

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Severity, convert_tool, revert_tool};
use toolbond_harness::suite::{Documents, File};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Options};

use crate::assert_same;
use crate::project::official::{self, Example};
use crate::project::reader::{Question, agrees, ajv_as, known};

const KNOWN: &str = include_str!("../../cases/dialect/ajv.json");

pub(crate) fn trials() -> Vec<Trial> {
    let older = Dialect::ALL.into_iter().filter(|dialect| *dialect < Dialect::Draft202012);
    let mut trials = trials::suite("dialect/suite", older, official::is_meant, keeps_validity);
    trials.push(Trial::test("dialect/suite/ajv", ajv_agrees));
    trials
}

/// The converted schema of `example`; `None` where it has a metaschema of the suite's own, which is no known dialect.
fn convert(example: &Example) -> Result<Option<Value>, Failed> {
    let converted = convert_tool(&example.tool);
    for finding in &converted.findings {
        if finding.severity > Severity::Info {
            let unknown = finding.message.contains("unsupported dialect");
            return if unknown { Ok(None) } else { Err(finding.to_string().into()) };
        }
    }
    assert_same(&revert_tool(&converted.tool), &example.tool, "restored");
    assert_same(&convert_tool(&converted.tool).tool, &converted.tool, "converted again");
    Ok(Some(converted.tool["outputSchema"].clone()))
}

fn keeps_validity(file: &File, documents: &Documents) -> Result<(), Failed> {
    let before = file.options(documents);
    // Documents keep their dialect, where the schema that refers to them is 2020-12.
    let after = documents.iter().fold(Options::default(), |options, (uri, document)| {
        let mut document = document.clone();
        if let Value::Object(document) = &mut document {
            document.entry("$schema").or_insert_with(|| file.dialect.uri().into());
        }
        options.document(uri, document)
    });
    official::check_each(file, |example| check(example, &before, &after))
}

fn check(example: &Example, before: &Options, after: &Options) -> Result<(), Failed> {
    let original = &example.tool["outputSchema"];
    let Some(converted) = convert(example)? else { return Ok(()) };
    example.assert_verdicts(&before.compile(original)?);
    match after.compile(&converted) {
        Ok(after) => example.assert_verdicts(&after),
        // The engine has the metaschema of a schema's own dialect at hand, and no other one.
        Err(error) if error.to_string().contains("json-schema.org/draft") => {}
        Err(error) => return Err(format!("{error}: {converted}").into()),
    }
    Ok(())
}

fn ajv_agrees() -> Result<(), Failed> {
    let mut questions = Vec::new();
    let files = official::files();
    let older = files.iter().filter(|file| file.dialect < Dialect::Draft202012);
    for example in older.flat_map(official::examples) {
        let Some(schema) = convert(&example)? else { continue };
        let values = example.values.into_iter().map(|(_, value, valid)| (value, valid)).collect();
        questions.push(Question { name: example.name, schema, values });
    }
    agrees(ajv_as("2020-12"), &questions, known(KNOWN, |_| true))
}
