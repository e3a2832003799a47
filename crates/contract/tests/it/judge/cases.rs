//! Reading the files of cases.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::trials::{check_all, named};

/// A trial of the cases of `tests/cases/judge/{file}.json`, called `judge/{file}`.
///
/// A file is an array of objects with a `name`. `{"nested": n}` and `{"many": n}` anywhere in a case
/// stand for a schema of `n` nested containers and one with `n` subschemas.
pub(crate) fn trial(file: &'static str, run: fn(&Value) -> Result<(), Failed>) -> Trial {
    trial_as(file, file, run)
}

/// The same, called `judge/{name}`.
pub(crate) fn trial_as(
    name: &str,
    file: &'static str,
    run: fn(&Value) -> Result<(), Failed>,
) -> Trial {
    Trial::test(format!("judge/{name}"), move || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/judge");
        let mut cases = named(&fs::read_to_string(folder.join(format!("{file}.json")))?);
        for (_, case) in &mut cases {
            expand(case);
        }
        check_all(cases, run)
    })
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
