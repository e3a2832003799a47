//! Input and output schemas, as authors write them and as they come from the wire.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{ContractError, Role, ToolSchema};

use super::cases::{self, expect};
use crate::assert_verdicts;

pub(crate) fn trials() -> Vec<Trial> {
    ["csharp", "ruby", "sep", "schemas"].map(|file| cases::trial(file, run)).into()
}

/// A case has `side` and `schema`; `by` (`author` or `wire`, else both), and says what comes of it:
/// `error` (a rule) or `wire` (the schema as sent, where that is another), with `valid` and `invalid` values.
fn run(case: &Value) -> Result<(), Failed> {
    let role = if case["side"] == "input" { Role::Input } else { Role::Output };
    for (way, admit) in [("author", ToolSchema::authored as Admit), ("wire", ToolSchema::received)]
    {
        if case["by"].as_str().is_some_and(|by| by != way) {
            continue;
        }
        match admit(role, case["schema"].clone()) {
            Err(error) => {
                expect(case, "message", &json!(error.to_string()))?;
                assert_eq!(case["error"], error.kind.rule().id, "{way}: {error}");
            }
            Ok(admitted) => {
                assert_eq!(case.get("error"), None, "{way}: admitted");
                let wire = case.get("wire").unwrap_or(&case["schema"]);
                assert_eq!(admitted.value(), wire, "{way}");
                assert_verdicts(admitted.schema(), case);
            }
        }
    }
    Ok(())
}

type Admit = fn(Role, Value) -> Result<ToolSchema, ContractError>;
