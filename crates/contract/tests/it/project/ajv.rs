//! The projected schemas and values of the official suite, read by Ajv as the TypeScript SDK v1 does.

use std::borrow::Cow;
use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Formats, Projection, Revision, project_result};

use super::official;
use super::reader::{Question, ask, fault};

const LEGACY: Revision = Revision::V2025_11_25;
const KNOWN: &str = include_str!("../../cases/project/draft07-readers.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("project/ajv/formats_dropped", || accepts_what_is_valid(Formats::Dropped)),
        Trial::test("project/ajv/formats_kept", || accepts_what_is_valid(Formats::Kept)),
    ]
}

fn accepts_what_is_valid(formats: Formats) -> Result<(), Failed> {
    let questions = questions(formats);
    let answers = ask(&questions)?;
    let mut known = known(formats)?;
    let mut refused = Vec::new();
    let mut values = 0;
    for (question, answer) in questions.iter().zip(&answers) {
        values += question.values.len();
        if let Some(fault) = fault(question, answer)
            && known.remove(&question.name).is_none()
        {
            refused.push(format!("{}: {fault}", question.name));
        }
    }
    eprintln!("{} schemas, {values} valid values, {} refused", questions.len(), refused.len());
    let stale = known.into_keys().map(|name| format!("{name}: listed, but not refused"));
    refused.extend(stale);
    if refused.is_empty() { Ok(()) } else { Err(refused.join("\n").into()) }
}

fn questions(formats: Formats) -> Vec<Question> {
    let projection = Projection::default().formats(formats);
    let mut questions = Vec::new();
    for file in official::files() {
        for example in official::examples(&file) {
            let Ok(projected) = projection.project_tool(&example.tool, &LEGACY) else { continue };
            let valid = example.values.iter().filter(|(_, _, valid)| *valid);
            let values = valid.filter_map(|(_, value, _)| {
                let result = official::result(value);
                let sent = project_result(Cow::Borrowed(&result), projected.form, &LEGACY).ok()?;
                Some(sent["structuredContent"].clone())
            });
            questions.push(Question {
                name: example.name.clone(),
                values: values.collect(),
                schema: projected.tool["outputSchema"].clone(),
            });
        }
    }
    questions
}

/// What cannot be helped, by name, with its reason.
fn known(formats: Formats) -> Result<BTreeMap<String, String>, Failed> {
    let listed: Value = serde_json::from_str(KNOWN)?;
    let mut known = BTreeMap::new();
    for entry in listed.as_array().into_iter().flatten() {
        let reason = entry["reason"].as_str().ok_or("an entry without a reason")?;
        if entry["onlyWithFormatsKept"] == true && formats != Formats::Kept {
            continue;
        }
        for name in entry["groups"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            known.insert(name.to_owned(), reason.to_owned());
        }
    }
    Ok(known)
}
