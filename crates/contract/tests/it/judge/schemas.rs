//! Input and output schemas, as authors write them and as they come from the wire.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{ContractError, Role, ToolSchema};

use super::cases::{self, expect};

pub(crate) fn trials() -> Vec<Trial> {
    ["csharp", "ruby", "sep", "schemas"].map(|file| cases::trial(file, run)).into()
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
    let admitted = match admit(case, way) {
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
    expect(case, "wire", admitted.value())?;
    for (member, valid) in [("valid", true), ("invalid", false)] {
        for value in case[member].as_array().into_iter().flatten() {
            if admitted.validate(value).is_valid() != valid {
                return Err(format!("expected {value} to be {member}").into());
            }
        }
    }
    Ok(())
}

fn admit(case: &Value, way: &str) -> Result<ToolSchema, ContractError> {
    let role = if case["side"] == "input" { Role::Input } else { Role::Output };
    let schema = case["schema"].clone();
    if way == "author" {
        ToolSchema::authored(role, schema)
    } else {
        ToolSchema::received(role, schema)
    }
}
