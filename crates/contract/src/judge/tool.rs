//! Judging one tool, independently of the others.
//!
//! The order of the checks matters:
//!
//! 1. The name and the optional members, as the author wrote them. Then [`remove_wrong_members`] removes members of the
//!    wrong type, and later checks do not see them.
//! 2. The input schema. `header-annotation` reads the schema after repair, because that is what clients get.
//! 3. The output schema. `output-projection` needs the compiled schema, after repair.
//! 4. The name of the tool is written into all findings.
//! 5. Every error without an action drops the tool.
//!
//! A new check belongs before step 4. If its error must not drop the tool, it has to set an [`Action`]. Findings are
//! reported in the order in which the checks add them.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use toolbond_schema::Pointer;

use super::{options::JudgeOptions, settle::settle};
use crate::{
    Action, Contract, Finding, Policy, Revision, Role, Severity, Side, ToolSchema,
    json_type::kind,
    project_tool,
    rules::{
        duplicate_name::DUPLICATE_NAME,
        header_annotation,
        input_missing::INPUT_MISSING,
        output_boolean::OUTPUT_BOOLEAN,
        tool_entry::TOOL_ENTRY,
        tool_member,
        tool_name::{self, TOOL_NAME},
        tool_name_form,
    },
};

/// A tool after judgement.
pub(super) struct Judged {
    /// The contract, if the tool stays.
    pub(super) contract: Option<Contract>,
    /// The findings. If there is no contract, at least one is an error.
    pub(super) findings: Vec<Finding>,
}

/// Judges `tool`. `taken` has the names of the tools before it that stay.
pub(super) fn judge(tool: Value, options: &JudgeOptions, taken: &HashSet<String>) -> Judged {
    let mut tool = match tool {
        Value::Object(tool) => tool,
        other => {
            let message = format!("expected a tool (an object), found {}", kind(&other));
            let finding = TOOL_ENTRY.finding(message).action(Action::ToolDropped);
            return Judged { contract: None, findings: vec![finding] };
        }
    };
    let mut findings = check_name(&tool, taken);
    findings.extend(remove_wrong_members(&mut tool, options.policy));
    let input = compile_input(&tool, options, &mut findings);
    let output = compile_output(&mut tool, options, &mut findings);

    let name = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    if let Some(name) = name {
        findings = findings.into_iter().map(|finding| finding.tool(name)).collect();
    }
    let is_fatal =
        |finding: &Finding| finding.severity == Severity::Error && finding.action == Action::None;
    match input {
        Some(input) if !findings.iter().any(is_fatal) => {
            Judged { contract: Some(Contract::assemble(tool, input, output)), findings }
        }
        _ => {
            for finding in findings.iter_mut().filter(|finding| is_fatal(finding)) {
                finding.action = Action::ToolDropped;
            }
            Judged { contract: None, findings }
        }
    }
}

fn check_name(tool: &Map<String, Value>, taken: &HashSet<String>) -> Vec<Finding> {
    match tool_name::check(tool) {
        Err((at, message)) => vec![TOOL_NAME.finding(message).at(at)],
        Ok(name) => {
            let again = taken.contains(name).then(|| {
                DUPLICATE_NAME
                    .finding(
                        "expected a different name for each tool, found this name a second time",
                    )
                    .at(Pointer::root().join("name"))
            });
            tool_name_form::check(name).into_iter().chain(again).collect()
        }
    }
}

/// Checks the optional members. Removes the wrong ones unless the policy refuses the list.
fn remove_wrong_members(tool: &mut Map<String, Value>, policy: Policy) -> Vec<Finding> {
    let mut findings = tool_member::check(tool);
    if policy != Policy::Reject && !findings.is_empty() {
        tool_member::remove_wrong(tool);
        for finding in &mut findings {
            finding.action = Action::MemberDropped;
        }
    }
    findings
}

fn compile_input(
    tool: &Map<String, Value>,
    options: &JudgeOptions,
    findings: &mut Vec<Finding>,
) -> Option<ToolSchema> {
    let Some(schema) = tool.get("inputSchema") else {
        let finding =
            INPUT_MISSING.finding("missing required member `inputSchema`").side(Side::Input);
        if options.policy != Policy::Repair {
            findings.push(
                finding.hint("the policy `repair` adds one that allows any object".to_owned()),
            );
            return None;
        }
        findings.push(finding.severity(Severity::Warning).action(Action::Repaired));
        let any = json!({ "type": "object" });
        return ToolSchema::received_with(Role::Input, any, &options.schema).ok();
    };
    let settled = settle(Role::Input, schema, options);
    findings.extend(settled.findings);
    let judged = settled.schema.as_ref().map_or(schema, ToolSchema::value);
    for mut finding in header_annotation::check(judged) {
        if options.ignore_headers {
            finding.severity = Severity::Warning;
        }
        finding.pointer = Pointer::root().join("inputSchema").concat(&finding.pointer);
        findings.push(finding.side(Side::Input));
    }
    settled.schema
}

/// Compiles the output schema, or removes it from `tool` unless the policy refuses the list.
fn compile_output(
    tool: &mut Map<String, Value>,
    options: &JudgeOptions,
    findings: &mut Vec<Finding>,
) -> Option<ToolSchema> {
    let schema = tool.get("outputSchema")?;
    let at = Pointer::root().join("outputSchema");
    if let Value::Bool(value) = schema {
        let finding =
            OUTPUT_BOOLEAN.finding(format!("expected an object on the wire, found {value}"));
        findings.push(finding.side(Side::Output).at(at).action(Action::Repaired));
    }
    let mut settled = settle(Role::Output, schema, options);
    if settled.schema.is_none() && options.policy != Policy::Reject {
        // The tool works without it.
        tool.shift_remove("outputSchema");
        for finding in &mut settled.findings {
            if finding.severity == Severity::Error {
                finding.action = Action::MemberDropped;
            }
        }
    }
    findings.append(&mut settled.findings);
    if let Some(output) = &settled.schema {
        let probe = json!({ "outputSchema": output.value() });
        if let Err(error) = project_tool(&probe, &Revision::V2025_11_25) {
            findings.push(error.finding().side(Side::Output));
        }
    }
    settled.schema
}
