//! Other readers of schemas, each in a process of its own that is asked all questions over JSON lines.

use std::collections::BTreeSet;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::{Value, json};
use toolbond_harness::{peers, process, trials};

/// A schema, and values with the verdicts that a reader should have on them.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) values: Vec<(Value, bool)>,
}

/// What is wrong with an answer: the schema is refused, or one of the verdicts is another one.
fn fault(question: &Question, answer: &Value) -> Option<String> {
    let (schema, values) = (&question.schema, &question.values);
    let expected: Value = values.iter().map(|(_, valid)| *valid).collect();
    if answer["accepted"] == expected {
        return None;
    }
    let accepted = answer["accepted"].as_array().into_iter().flatten();
    let mut wrong = values.iter().zip(accepted).filter(|((_, valid), found)| *valid != **found);
    Some(match wrong.next() {
        Some(((value, true), _)) => format!("refuses {value} under {schema}"),
        Some(((value, false), _)) => format!("accepts {value} under {schema}"),
        None => format!("{} in {schema}", answer["error"]),
    })
}

/// What `reader` answers to all `questions`.
pub(crate) fn ask(reader: Command, questions: &[Question]) -> Result<Vec<Value>, Failed> {
    let lines = questions.iter().map(|question| {
        let values: Vec<_> = question.values.iter().map(|(value, _)| value).collect();
        json!({ "schema": question.schema, "values": values }).to_string() + "\n"
    });
    let output = process::run(reader, &lines.collect::<String>());
    let answers = String::from_utf8(output.stdout)?;
    let answers: Vec<Value> =
        answers.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if answers.len() != questions.len() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} answers to {}: {error}", answers.len(), questions.len()).into());
    }
    Ok(answers)
}

/// Asks `reader` all `questions`, and fails where it does not answer as expected, those `known` aside, or where it
/// does although it is known not to.
pub(crate) fn agrees(
    reader: Command,
    questions: &[Question],
    mut known: BTreeSet<String>,
) -> Result<(), Failed> {
    let answers = ask(reader, questions)?;
    let mut faults = Vec::new();
    for (question, answer) in questions.iter().zip(&answers) {
        if let Some(fault) = fault(question, answer)
            && !known.remove(&question.name)
        {
            faults.push(format!("{}: {fault}", question.name));
        }
    }
    faults.extend(known.into_iter().map(|name| format!("{name}: listed, but it agrees")));
    trials::none_of(faults)
}

/// The groups of the suite on which a reader ends otherwise: those of the entries of `list` that are `meant`. Each
/// entry has a reason.
pub(crate) fn known(list: &str, is_meant: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let list: Vec<Value> = serde_json::from_str(list).expect("entries are a JSON array");
    let meant = list.iter().filter(|entry| is_meant(entry));
    let groups = meant.flat_map(|entry| {
        assert!(entry["reason"].is_string(), "an entry without a reason: {entry}");
        entry["groups"].as_array().into_iter().flatten()
    });
    groups.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Ajv as a reader of `draft-07`, as the TypeScript SDK v1 is one, or of `2020-12`.
pub(crate) fn ajv_as(dialect: &str) -> Command {
    let mut node = peers::command("readers/ajv.mjs");
    node.arg(dialect);
    node
}
