//! Where messages meet the contracts of tools: lists, arguments and results.

pub(crate) mod arguments;
pub(crate) mod budget;
pub(crate) mod catalog;
pub(crate) mod header_changes;
pub(crate) mod list;
pub(crate) mod param_headers;
pub(crate) mod result;
mod shape;
pub(crate) mod tasks;

use serde_json::{Map, Value};
use toolpact_contract::{JudgedCall, Mode, Outcome, Revision, rule, tool_error};

/// `refusal` as `revision` wants results, as JSON.
pub(crate) fn refusal_text(mut refusal: Map<String, Value>, revision: &Revision) -> String {
    if revision.is_natural() {
        refusal.entry("resultType").or_insert_with(|| "complete".into());
    }
    Value::Object(refusal).to_string()
}

/// The outcome for arguments or a result (`what`) that cannot be checked, with the rule `id`.
fn unchecked(id: &str, what: &str, tool: &str, reason: &str, mode: Mode) -> JudgedCall {
    let mut findings = Vec::new();
    if mode != Mode::Off
        && let Some(rule) = rule(id)
    {
        findings.push(rule.finding(reason).tool(tool));
    }
    let refusal = mode
        .refuses()
        .then(|| tool_error(format!("could not check the {what} tool `{tool}`: {reason}")));
    let mut judged = JudgedCall::new(Outcome::Unfinished);
    judged.findings = findings;
    judged.refusal = refusal;
    judged
}
