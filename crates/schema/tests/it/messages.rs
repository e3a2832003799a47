//! What violations and refusals say, word for word.

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::Value;
use toolpact_schema::{Options, Schema, Verdict};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    schema: Value,
    #[serde(default)]
    instance: Value,
    #[serde(default)]
    assert_formats: bool,
    text: String,
}

pub(crate) fn trials() -> Vec<Trial> {
    let violations = cases(include_str!("../cases/violations.json")).into_iter().map(|case| {
        Trial::test(format!("violation/{}", case.name), move || says(&case.text, &violation(&case)))
    });
    let refusals = cases(include_str!("../cases/refusals.json")).into_iter().map(|case| {
        Trial::test(format!("refusal/{}", case.name), move || says(&case.text, &refusal(&case)))
    });
    violations.chain(refusals).collect()
}

fn cases(text: &str) -> Vec<Case> {
    serde_json::from_str(text).expect("the cases are JSON")
}

fn says(expected: &str, found: &str) -> Result<(), Failed> {
    if expected == found { Ok(()) } else { Err(format!("says\n{found}\nnot\n{expected}").into()) }
}

fn violation(case: &Case) -> String {
    let schema = Options::default().assert_formats(case.assert_formats).compile(&case.schema);
    match schema.expect("it compiles").validate(&case.instance) {
        Verdict::Invalid(violations) => violations.to_string(),
        other => format!("{other:?}"),
    }
}

fn refusal(case: &Case) -> String {
    match Schema::compile(&case.schema) {
        Ok(_) => String::new(),
        Err(error) => match error.kind.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
    }
}
