//! Readers of draft-07 and 2020-12: Ajv in a process of its own, asked over JSON lines.

use std::io::Write as _;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::{Value, json};
use toolbond_harness::peers;

/// One projected schema and projected values that are valid under it.
pub(crate) struct Question {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) values: Vec<Value>,
}

/// What is wrong with an answer: the schema is refused, or one of the values.
pub(crate) fn fault(question: &Question, answer: &Value) -> Option<String> {
    if let Some(error) = answer["error"].as_str() {
        return Some(format!("{error} in {}", question.schema));
    }
    let accepted = answer["accepted"].as_array().into_iter().flatten();
    let wrong = question.values.iter().zip(accepted).find(|(_, accepted)| **accepted != true);
    wrong.map(|(value, _)| format!("refuses {value} under {}", question.schema))
}

/// The answers of one draft-07 reader, in order.
pub(crate) fn ask(questions: &[Question]) -> Result<Vec<Value>, Failed> {
    ask_as("draft-07", questions)
}

/// The answers of one reader, in order.
pub(crate) fn ask_as(dialect: &str, questions: &[Question]) -> Result<Vec<Value>, Failed> {
    let mut node = peers::command("readers/ajv.mjs");
    node.arg(dialect);
    exchange(node, questions)
}

/// The answers of `reader`, in order.
pub(crate) fn exchange(mut reader: Command, questions: &[Question]) -> Result<Vec<Value>, Failed> {
    let mut reader = reader.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = reader.stdin.take().ok_or("no pipe to the reader")?;
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
    let output = reader.wait_with_output()?;
    writer.join().map_err(|_| "the writer stopped")??;
    let answers = String::from_utf8(output.stdout)?;
    let answers: Vec<Value> =
        answers.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if answers.len() != questions.len() {
        return Err(format!("{} answers to {} questions", answers.len(), questions.len()).into());
    }
    Ok(answers)
}
