//! The required cases of the official suite: validity is the same after converting, by us and by Ajv 2020-12.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Severity, convert_tool, restore_tool};
use toolbond_harness::suite::{self, File};
use toolbond_schema::{Dialect, Options};

use crate::project::official::{self, Example, is_same};
use crate::project::reader::{Question, ask_as};

const KNOWN: &str = include_str!("../../cases/dialect/ajv.json");

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("dialect/suite/ajv", ajv_agrees)];
    trials.extend(files().into_iter().map(|file| {
        Trial::test(format!("dialect/suite/{}", file.name), move || keeps_validity(&file))
    }));
    trials
}

/// The required files of older dialects.
fn files() -> Vec<File> {
    let files = official::files().into_iter();
    files.filter(|file| file.dialect < Dialect::Draft202012).collect()
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
    if !is_same(&restore_tool(&converted.tool), &example.tool) {
        return Err(format!("{} is not restored", converted.tool).into());
    }
    if !is_same(&convert_tool(&converted.tool).tool, &converted.tool) {
        return Err(format!("{} is converted again", converted.tool).into());
    }
    Ok(Some(converted.tool["outputSchema"].clone()))
}

fn keeps_validity(file: &File) -> Result<(), Failed> {
    let documents = suite::documents(file.dialect);
    let before = file.options(&documents);
    // Documents keep their dialect, where the schema that refers to them is 2020-12.
    let after = documents.iter().fold(Options::default(), |options, (uri, document)| {
        let mut document = document.clone();
        if let Value::Object(document) = &mut document {
            document.entry("$schema").or_insert_with(|| file.dialect.uri().into());
        }
        options.document(uri, document)
    });
    let mut faults = Vec::new();
    for example in official::examples(file) {
        if let Err(fault) = check(&example, &before, &after) {
            faults.push(format!("{}: {}", example.name, fault.message().unwrap_or_default()));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn check(example: &Example, before: &Options, after: &Options) -> Result<(), Failed> {
    let original = &example.tool["outputSchema"];
    let Some(converted) = convert(example)? else { return Ok(()) };
    let before = before.compile(original)?;
    let after = match after.compile(&converted) {
        Ok(after) => after,
        // The engine has the metaschema of a schema's own dialect at hand, and no other one.
        Err(error) if error.to_string().contains("json-schema.org/draft") => return Ok(()),
        Err(error) => return Err(format!("{error}: {converted}").into()),
    };
    for (description, value, valid) in &example.values {
        if before.is_valid(value) != *valid || after.is_valid(value) != *valid {
            return Err(format!("{description}: {value} should be {valid}: {converted}").into());
        }
    }
    Ok(())
}

fn ajv_agrees() -> Result<(), Failed> {
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    for example in files().iter().flat_map(official::examples) {
        let Some(schema) = convert(&example)? else { continue };
        expected.push(example.values.iter().map(|(_, _, valid)| *valid).collect::<Vec<_>>());
        let values = example.values.into_iter().map(|(_, value, _)| value).collect();
        questions.push(Question { name: example.name, schema, values });
    }
    let answers = ask_as("2020-12", &questions)?;
    let mut known = known()?;
    let mut faults = Vec::new();
    for ((question, expected), answer) in questions.iter().zip(&expected).zip(&answers) {
        let agrees = answer["accepted"] == serde_json::json!(expected);
        if !agrees && known.remove(&question.name).is_none() {
            faults.push(format!("{}: {answer} under {}", question.name, question.schema));
        }
    }
    let cases: usize = expected.iter().map(Vec::len).sum();
    eprintln!("{} schemas, {cases} cases, {} faults", questions.len(), faults.len());
    faults.extend(known.into_keys().map(|name| format!("{name}: listed, but Ajv agrees")));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// Groups on which Ajv ends otherwise, with the reason.
fn known() -> Result<BTreeMap<String, String>, Failed> {
    let listed: Vec<Value> = serde_json::from_str(KNOWN)?;
    let mut known = BTreeMap::new();
    for entry in &listed {
        let reason = entry["reason"].as_str().ok_or("an entry without a reason")?;
        for name in entry["groups"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            known.insert(name.to_owned(), reason.to_owned());
        }
    }
    Ok(known)
}
