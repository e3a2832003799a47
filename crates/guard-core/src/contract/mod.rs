//! Where messages meet the contracts of tools: lists, arguments and results.

pub mod arguments;
mod broken;
pub mod budget;
pub mod catalog;
pub mod header_changes;
pub mod list;
pub mod param_headers;
pub mod result;
mod shape;
pub mod tasks;
pub mod view;

use serde_json::{Map, Value};
use toolbond_contract::rules::{ARGUMENTS_UNFINISHED, RESULT_UNFINISHED};
use toolbond_contract::{Action, JudgedCall, Mode, Outcome, Revision, Side, judge::tool_error};

/// `refusal` as `revision` wants results, as JSON.
pub fn refusal_text(mut refusal: Map<String, Value>, revision: &Revision) -> String {
    if revision.is_natural() {
        refusal.entry("resultType").or_insert_with(|| "complete".into());
    }
    Value::Object(refusal).to_string()
}

/// The outcome for the arguments or the result of a call that cannot be checked.
fn unchecked(side: Side, tool: &str, reason: &str, mode: Mode) -> JudgedCall {
    let (rule, what, action) = match side {
        Side::Result => (&RESULT_UNFINISHED, "result of", Action::ResultWithheld),
        _ => (&ARGUMENTS_UNFINISHED, "arguments for", Action::CallRefused),
    };
    let mut judged = JudgedCall::new(Outcome::Unfinished);
    let mut finding = rule.finding(reason).tool(tool).side(side);
    if mode.refuses_on(side) {
        finding = finding.action(action);
        judged.refusal =
            Some(tool_error(format!("could not check the {what} tool `{tool}`: {reason}")));
    }
    judged.findings.extend((mode != Mode::Off).then_some(finding));
    judged
}
