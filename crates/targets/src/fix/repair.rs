//! Fixes for findings about the contract: what the policy `repair` does, as edits.

use serde_json::Value;
use toolbond_contract::{
    Action, Finding, JudgeOptions, JudgedTools, Pointer, Policy, Role, Side, judge_tools,
    rules::TOOL_MEMBER,
};

use super::{Edit, Fix};
use crate::{LintFinding, checks::Tool};

/// The findings of `judged`, with a fix where there is one.
pub(crate) fn add_repairs(
    tools: &[Tool<'_>],
    judged: &JudgedTools,
    options: &JudgeOptions,
) -> Vec<LintFinding> {
    let mut findings: Vec<_> = judged.findings.iter().cloned().map(LintFinding::from).collect();
    findings.sort_by_key(|found| found.finding.index);
    for of_tool in findings.chunk_by_mut(|a, b| a.finding.index == b.finding.index) {
        let index = of_tool[0].finding.index;
        if let Ok(place) = tools.binary_search_by_key(&index, |tool| tool.index) {
            add_to_tool(&tools[place], of_tool, options);
        }
    }
    findings
}

fn add_to_tool(tool: &Tool<'_>, findings: &mut [LintFinding], options: &JudgeOptions) {
    for found in &mut *findings {
        let pointer = &found.finding.pointer;
        let names: Vec<_> = pointer.tokens().collect();
        let value = match names.as_slice() {
            [member] => tool.value.get(member),
            [member, inner] => tool.value.get(member).and_then(|value| value.get(inner)),
            _ => None,
        };
        if found.finding.rule == TOOL_MEMBER.id && value == Some(&Value::Null) {
            let edits = vec![Edit::Remove { pointer: pointer.clone() }];
            found.fix = Some(Fix::safe(format!("remove `{}`", names.join(".")), edits));
        }
    }
    if findings.iter().all(|found| found.finding.side.is_none()) {
        return;
    }
    let repaired = judge_tools(tool.value.clone().into(), &options.clone().policy(Policy::Repair));
    let Some(contract) = repaired.contracts.first() else { return };
    for role in [Role::Input, Role::Output] {
        let side = Side::from(role);
        let is_repaired = |one: &Finding| one.side == Some(side) && one.action == Action::Repaired;
        let value = contract.tool().get(role.member());
        let rules: Vec<_> =
            repaired.findings.iter().filter(|one| is_repaired(one)).map(|one| one.rule).collect();
        if let Some(value) = value.filter(|value| tool.value.get(role.member()) != Some(value))
            && let Some(first) = findings.iter_mut().find(|found| {
                found.finding.side == Some(side) && rules.contains(&found.finding.rule)
            })
        {
            let pointer = Pointer::root().join(role.member());
            let edits = vec![Edit::Set { pointer, value: value.clone() }];
            let title = format!("rewrite `{}` in its dialect", role.member());
            // A validator that ignores `nullable` does not accept `null` before the repair.
            let is_usable = tool.contract.is_some_and(|contract| match role {
                Role::Input => true,
                Role::Output => contract.output().is_some(),
            });
            first.fix = Some(if is_usable && rules.contains(&"nullable") {
                Fix::suggestion(title, edits)
            } else {
                Fix::safe(title, edits)
            });
        }
    }
}
