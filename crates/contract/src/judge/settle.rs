//! Judging one schema of a tool, and repairing it if the policy says so.

use serde_json::Value;

use super::options::JudgeOptions;
use crate::{
    Action, ContractError, Finding, Policy, Role, Severity, ToolSchema,
    repair::{self, Extent},
};

/// A schema of a tool after judgement.
pub(super) struct Settled {
    /// The compiled schema, if it is usable.
    pub(super) schema: Option<ToolSchema>,
    /// The findings. If there is no schema, at least one is an error.
    pub(super) findings: Vec<Finding>,
}

/// Compiles `value`. Repairs it first if it needs that and the policy allows it.
pub(super) fn settle(role: Role, value: &Value, options: &JudgeOptions) -> Settled {
    let policy = options.policy;
    let side = role.into();
    let compile = |schema| ToolSchema::received_with(role, schema, &options.schema);
    let first = compile(value.clone());
    let findings = repair::find(side, value, first.is_err());
    if findings.is_empty() {
        return match first {
            Ok(schema) => Settled { schema: Some(schema), findings },
            Err(error) => Settled { schema: None, findings: vec![error.finding()] },
        };
    }
    if first.is_ok() && policy != Policy::Repair {
        return Settled { schema: first.ok(), findings };
    }
    let repair = |extent| {
        let mut repaired = value.clone();
        repair::fix(side, &mut repaired, extent);
        let left = repair::find(side, &repaired, first.is_err());
        compile(repaired).map(|schema| (schema, left))
    };
    let repaired = match first {
        Ok(_) => repair(Extent::Legal),
        // Repairing a legal idiom must not make a schema fail that would be admitted with it.
        Err(_) => repair(Extent::All).or_else(|error| repair(Extent::Fatal).map_err(|_| error)),
    };
    match (repaired, first, policy) {
        (Ok((schema, left)), _, Policy::Repair) => {
            Settled { schema: Some(schema), findings: mark_repaired(findings, &left) }
        }
        // A repair would make it usable, but the policy does not allow one.
        (Ok(_), Err(error), _) => refuse(findings, &error, true),
        // The repair made it worse, or the policy does not ask for one: the schema stays as it was.
        (_, Ok(schema), _) => Settled { schema: Some(schema), findings },
        (Err(rest), Err(_), _) => refuse(with(findings, &rest), &rest, false),
    }
}

/// Marks the findings as repaired, except those that are `left` after the repair.
fn mark_repaired(mut findings: Vec<Finding>, left: &[Finding]) -> Vec<Finding> {
    let is_left = |finding: &Finding| {
        left.iter().any(|other| other.rule == finding.rule && other.pointer == finding.pointer)
    };
    for finding in &mut findings {
        if !is_left(finding) {
            finding.severity = finding.severity.min(Severity::Warning);
            finding.action = Action::Repaired;
        }
    }
    findings
}

/// Adds `error` to `findings`.
fn with(mut findings: Vec<Finding>, error: &ContractError) -> Vec<Finding> {
    findings.push(error.finding());
    findings
}

/// Refuses the schema. Adds `error` if none of the findings is an error.
fn refuse(mut findings: Vec<Finding>, error: &ContractError, is_repairable: bool) -> Settled {
    if findings.iter().all(|finding| finding.severity < Severity::Error) {
        findings.push(error.finding());
    }
    if is_repairable {
        for finding in &mut findings {
            finding.hint.get_or_insert_with(|| "the policy `repair` rewrites it".to_owned());
        }
    }
    Settled { schema: None, findings }
}
