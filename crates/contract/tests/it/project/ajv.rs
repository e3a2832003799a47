//! The projected schemas and values of the official suite, read by Ajv as the TypeScript SDK v1 does.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolpact_contract::{Formats, Projection, Revision, project_result};

use super::official;

const LEGACY: Revision = Revision::V2025_11_25;
const KNOWN: &str = include_str!("../../cases/project/draft07-readers.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("project/ajv/formats_dropped", || accepts_what_is_valid(Formats::Dropped)),
        Trial::test("project/ajv/formats_kept", || accepts_what_is_valid(Formats::Kept)),
    ]
}

/// One schema and its valid values.
struct Question {
    name: String,
    schema: Value,
    values: Vec<Value>,
}

fn accepts_what_is_valid(formats: Formats) -> Result<(), Failed> {
    let questions = questions(formats);
    let answers = ask(&questions)?;
    let mut known = known(formats)?;
    let mut refused = Vec::new();
    let mut values = 0;
    for (question, answer) in questions.iter().zip(&answers) {
        values += question.values.len();
        if let Some(fault) = fault(question, answer) {
            if known.remove(&question.name).is_none() {
                refused.push(format!("{}: {fault}", question.name));
            }
        }
    }
    eprintln!("{} schemas, {values} valid values, {} refused", questions.len(), refused.len());
    let stale = known.into_keys().map(|name| format!("{name}: listed, but not refused"));
    refused.extend(stale);
    if refused.is_empty() { Ok(()) } else { Err(refused.join("\n").into()) }
}

fn fault(question: &Question, answer: &Value) -> Option<String> {
    if let Some(error) = answer["error"].as_str() {
        return Some(format!("{error} in {}", question.schema));
    }
    let accepted = answer["accepted"].as_array().into_iter().flatten();
    let wrong = question.values.iter().zip(accepted).find(|(_, accepted)| **accepted != true);
    wrong.map(|(value, _)| format!("refuses {value} under {}", question.schema))
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
                let sent = project_result(&result, projected.form, &LEGACY).ok()?;
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

fn ask(questions: &[Question]) -> Result<Vec<Value>, Failed> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = crate_folder.join("../../target/testkit/node/ajv");
    if !modules.join("node_modules").is_dir() {
        return Err("Ajv is not installed: run `cargo xtask setup`".into());
    }
    let mut node = Command::new("node")
        .arg(crate_folder.join("tests/ajv/check.mjs"))
        .arg(modules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = node.stdin.take().ok_or("no pipe to node")?;
    let lines: Vec<_> = questions
        .iter()
        .map(|question| json!({ "schema": question.schema, "values": question.values }).to_string())
        .collect();
    let writer = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}")?;
        }
        Ok::<(), std::io::Error>(())
    });
    let output = node.wait_with_output()?;
    writer.join().map_err(|_| "the writer stopped")??;
    let answers = String::from_utf8(output.stdout)?;
    let answers: Vec<Value> =
        answers.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if answers.len() != questions.len() {
        return Err(format!("{} answers to {} questions", answers.len(), questions.len()).into());
    }
    Ok(answers)
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
