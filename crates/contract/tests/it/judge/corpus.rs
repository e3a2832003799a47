//! The tool lists of published servers: judged without loss.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Action, JudgeOptions, JudgedTools, Policy, judge_tools};
use toolbond_harness::corpus::Server;
use toolbond_harness::trials;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trials::corpus("judge/corpus", holds)]
}

fn holds(server: &Server) -> Result<(), Failed> {
    for policy in Policy::ALL {
        let options = JudgeOptions::default().policy(policy);
        let judged = judge_tools(server.document.clone(), &options);
        accounts_for_all(&server.document, &judged)
            .map_err(|fault| format!("under {policy}: {fault}"))?;
    }
    Ok(())
}

/// Every tool is in the list as it came, or has a finding that says what was done with it.
pub(crate) fn accounts_for_all(document: &Value, judged: &JudgedTools) -> Result<(), String> {
    let Some(tools) = document["tools"].as_array() else { return Ok(()) };
    let mut actions: BTreeMap<usize, Vec<Action>> = BTreeMap::new();
    for finding in &judged.findings {
        if let Some(index) = finding.index {
            actions.entry(index).or_default().push(finding.action);
        }
    }
    let Some(kept) = &judged.list else {
        let refused = judged.findings.iter().any(|finding| finding.action == Action::ListRefused);
        return if refused { Ok(()) } else { Err("gone without a finding".to_owned()) };
    };
    let mut kept = kept["tools"].as_array().into_iter().flatten();
    for (index, tool) in tools.iter().enumerate() {
        let actions = actions.get(&index).map_or(&[][..], Vec::as_slice);
        if actions.contains(&Action::ToolDropped) {
            continue;
        }
        let left = kept.next().ok_or_else(|| format!("tool {index} is gone without a finding"))?;
        let changed = actions.iter().any(|action| *action != Action::None);
        if !changed && (left != tool || keys(left) != keys(tool)) {
            return Err(format!("tool {index} changed without a finding"));
        }
    }
    if kept.next().is_some() { Err("more tools than came".to_owned()) } else { Ok(()) }
}

fn keys(tool: &Value) -> Vec<&String> {
    tool.as_object().into_iter().flatten().map(|(key, _)| key).collect()
}
