//! Reading the files of cases.

use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

/// The cases of `tests/cases/judge/{file}.json`, each a trial called `judge/{file}/{name}`.
///
/// A file is an array of objects with a `name`. `{"nested": n}` and `{"many": n}` anywhere in a case
/// stand for a schema of `n` nested containers and one with `n` subschemas.
pub(crate) fn trials(file: &str, run: fn(&Value) -> Result<(), Failed>) -> Vec<Trial> {
    trials_as(file, file, run)
}

/// The same, called `judge/{group}/{name}`.
pub(crate) fn trials_as(
    group: &str,
    file: &str,
    run: fn(&Value) -> Result<(), Failed>,
) -> Vec<Trial> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cases/judge/{file}.json"));
    let text = std::fs::read_to_string(&path).expect("the cases are there");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    cases
        .into_iter()
        .map(|mut case| {
            let name = case["name"].as_str().expect("a case has a name").to_owned();
            expand(&mut case);
            Trial::test(format!("judge/{group}/{name}"), move || run(&case))
        })
        .collect()
}

/// Fails unless `found` is what the case says, where it says.
pub(crate) fn expect(case: &Value, member: &str, found: &Value) -> Result<(), Failed> {
    match case.get(member) {
        Some(expected) if expected != found => {
            Err(format!("{member}: expected {expected}, found {found}").into())
        }
        _ => Ok(()),
    }
}

fn expand(value: &mut Value) {
    let number = |value: &Value, member| match value.as_object() {
        Some(map) if map.len() == 1 => map.get(member).and_then(Value::as_u64),
        _ => None,
    };
    if let Some(levels) = number(value, "nested") {
        *value = json!({ "type": "object" });
        for _ in 1..levels {
            *value = json!({ "type": "object", "additionalProperties": value });
        }
    } else if let Some(count) = number(value, "many") {
        let properties: serde_json::Map<_, _> =
            (1..count).map(|index| (format!("p{index}"), json!({}))).collect();
        *value = json!({ "type": "object", "properties": properties });
    } else if let Value::Array(list) = value {
        list.iter_mut().for_each(expand);
    } else if let Value::Object(map) = value {
        map.values_mut().for_each(expand);
    }
}
