//! The bundles of the official suite and their flat forms, read by Ajv and by Python's `jsonschema`: the verdicts that the suite expects.

use std::collections::BTreeMap;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::bundle::{bundle, flatten};
use toolbond_harness::peers;

use super::suite;
use crate::project::official;
use crate::project::reader::{Question, exchange};

const KNOWN: &str = include_str!("../../cases/bundle/peers.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("bundle/peers/ajv", || {
            agrees("ajv", peers::command("readers/ajv_bundles.mjs"))
        }),
        Trial::test("bundle/peers/jsonschema", || {
            agrees("jsonschema", peers::command("readers/jsonschema_bundles.py"))
        }),
    ]
}

/// Every group that is bundled with documents, exceptions aside.
fn agrees(name: &str, peer: Command) -> Result<(), Failed> {
    let (questions, expected) = questions();
    let answers = exchange(peer, &questions)?;
    let mut known = known(name)?;
    let mut faults = Vec::new();
    let mut remote = BTreeMap::new();
    for ((question, expected), answer) in questions.iter().zip(&expected).zip(&answers) {
        if let Some((dialect, _)) = question.name.split_once("/refRemote.json") {
            *remote.entry(dialect.to_owned()).or_insert(0) += 1;
        }
        let agrees = answer["accepted"] == json!(expected);
        if !agrees && known.remove(&question.name).is_none() {
            let schema = &question.schema;
            faults.push(format!("{}: {answer}, not {expected:?}: {schema}", question.name));
        }
    }
    let cases: usize = expected.iter().map(Vec::len).sum();
    let flat = questions.iter().filter(|question| question.name.ends_with("(flat)")).count();
    let count = questions.len();
    eprintln!("{name}: {count} bundles, {flat} flat, {cases} cases; of refRemote: {remote:?}");
    if remote.len() != 5 {
        faults.push("refRemote of all five dialects should be among them".to_owned());
    }
    faults.extend(known.into_keys().map(|group| format!("{group}: listed, but {name} agrees")));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn questions() -> (Vec<Question>, Vec<Vec<bool>>) {
    let mut questions = Vec::new();
    let mut expected = Vec::new();
    for file in suite::files() {
        let documents = suite::remotes(&file);
        for example in official::examples(&file) {
            let schema = &example.tool["outputSchema"];
            let Ok(bundled) = bundle(schema, None, &documents) else { continue };
            if *bundled == *schema {
                continue;
            }
            let verdicts: Vec<_> = example.values.iter().map(|(_, _, valid)| *valid).collect();
            let values: Vec<_> = example.values.into_iter().map(|(_, value, _)| value).collect();
            if let Ok(flat) = flatten(&bundled) {
                expected.push(verdicts.clone());
                let (name, schema) = (format!("{} (flat)", example.name), flat.into_owned());
                questions.push(Question { name, schema, values: values.clone() });
            }
            expected.push(verdicts);
            let schema = bundled.into_owned();
            questions.push(Question { name: example.name, schema, values });
        }
    }
    (questions, expected)
}

/// Groups on which a peer ends otherwise, with the reason.
fn known(peer: &str) -> Result<BTreeMap<String, String>, Failed> {
    let listed: Vec<Value> = serde_json::from_str(KNOWN)?;
    let mut known = BTreeMap::new();
    for entry in listed.iter().filter(|entry| entry["peer"] == peer) {
        let reason = entry["reason"].as_str().ok_or("an entry without a reason")?;
        for name in entry["groups"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            known.insert(name.to_owned(), reason.to_owned());
        }
    }
    Ok(known)
}
