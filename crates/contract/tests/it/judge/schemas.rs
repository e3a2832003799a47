//! Input and output schemas, as authors write them and as they come from the wire.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolpact_contract::{ContractError, InputSchema, OutputSchema};
use toolpact_schema::Verdict;

use super::cases::{self, expect};

pub(crate) fn trials() -> Vec<Trial> {
    ["csharp", "ruby", "sep", "schemas"]
        .into_iter()
        .flat_map(|file| cases::trials(file, run))
        .collect()
}

/// A case has `side` and `schema`; `by` (`author` or `wire`, else both), and says what comes of it:
/// `error` (a rule) or `wire` (the schema as sent), with `valid` and `invalid` values.
fn run(case: &Value) -> Result<(), Failed> {
    let ways: &[&str] = match case["by"].as_str() {
        Some("author") => &["author"],
        Some("wire") => &["wire"],
        _ => &["author", "wire"],
    };
    ways.iter().try_for_each(|way| {
        judge(case, way)
            .map_err(|failed| format!("{way}: {}", failed.message().unwrap_or("")).into())
    })
}

fn judge(case: &Value, way: &str) -> Result<(), Failed> {
    let (wire, validate) = match admit(case, way) {
        Ok(admitted) => admitted,
        Err(error) => {
            expect(case, "message", &json!(error.to_string()))?;
            return match case.get("error") {
                Some(rule) if rule == error.kind.rule().id => Ok(()),
                _ => Err(format!("refused as {}: {error}", error.kind.rule().id).into()),
            };
        }
    };
    if let Some(error) = case.get("error") {
        return Err(format!("expected {error}, but it was admitted").into());
    }
    expect(case, "wire", &wire)?;
    for (member, valid) in [("valid", true), ("invalid", false)] {
        for value in case[member].as_array().into_iter().flatten() {
            if validate(value).is_valid() != valid {
                return Err(format!("expected {value} to be {member}").into());
            }
        }
    }
    Ok(())
}

type Admitted = (Value, Box<dyn Fn(&Value) -> Verdict>);

fn admit(case: &Value, way: &str) -> Result<Admitted, ContractError> {
    let schema = case["schema"].clone();
    Ok(match (case["side"].as_str(), way) {
        (Some("input"), "author") => input(InputSchema::authored(schema)?),
        (Some("input"), _) => input(InputSchema::received(schema)?),
        (_, "author") => output(OutputSchema::authored(schema)?),
        _ => output(OutputSchema::received(schema)?),
    })
}

fn input(schema: InputSchema) -> Admitted {
    (schema.value().clone(), Box::new(move |value| schema.validate(value)))
}

fn output(schema: OutputSchema) -> Admitted {
    (schema.value().clone(), Box::new(move |value| schema.validate(value)))
}
