//! Judging one schema of a tool, and mending it where the policy says so.

use serde_json::Value;

use super::options::Policy;
use crate::{
    Action, ContractError, Finding, Severity, Side,
    repair::{self, Extent},
};

/// A schema of a tool after judgement.
pub(super) struct Settled<S> {
    /// The compiled schema, where it can be used.
    pub(super) schema: Option<S>,
    /// What there is to say about it. With no schema at least one is an error.
    pub(super) findings: Vec<Finding>,
}

/// Compiles `value` with `compile`, mended first where it has to be and `policy` allows it.
pub(super) fn settle<S>(
    side: Side,
    value: &Value,
    policy: Policy,
    compile: impl Fn(Value) -> Result<S, ContractError>,
) -> Settled<S> {
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
    let mend = |extent| {
        let mut mended = value.clone();
        repair::fix(side, &mut mended, extent);
        let left = repair::find(side, &mended, first.is_err());
        compile(mended).map(|schema| (schema, left))
    };
    let mended = match first {
        Ok(_) => mend(Extent::Legal),
        // What would be admitted without them is not lost over idioms that are legal.
        Err(_) => mend(Extent::All).or_else(|error| mend(Extent::Fatal).map_err(|_| error)),
    };
    match (mended, first, policy) {
        (Ok((schema, left)), _, Policy::Repair) => {
            Settled { schema: Some(schema), findings: mark_repaired(findings, &left) }
        }
        // Mended it could be used, but the policy is another one.
        (Ok(_), Err(error), _) => refuse(findings, &error, true),
        // The mending made it worse, or was not asked for: it stays as it was.
        (_, Ok(schema), _) => Settled { schema: Some(schema), findings },
        (Err(rest), Err(_), _) => refuse(with(findings, &rest), &rest, false),
    }
}

/// What was mended is no error any more; what is `left` was not mended.
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

/// `findings` and what is wrong beside them.
fn with(mut findings: Vec<Finding>, error: &ContractError) -> Vec<Finding> {
    findings.push(error.finding());
    findings
}

/// Refuses the schema for `findings`, or for `error` where none of them is an error.
fn refuse<S>(mut findings: Vec<Finding>, error: &ContractError, mendable: bool) -> Settled<S> {
    if findings.iter().all(|finding| finding.severity < Severity::Error) {
        findings.push(error.finding());
    }
    if mendable {
        for finding in &mut findings {
            finding.hint.get_or_insert_with(|| "the policy `repair` rewrites it".to_owned());
        }
    }
    Settled { schema: None, findings }
}
