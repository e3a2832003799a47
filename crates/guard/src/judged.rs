//! Tools that were judged before: their schemas are compiled once for as long as they stay the same.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use toolpact_contract::{Action, Contract, Finding, JudgeOptions, judge_tools};

/// One tool after judgement.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// Its contract, where it stays.
    pub(crate) contract: Option<Contract>,
    /// What there is to say about it.
    pub(crate) findings: Vec<Finding>,
    /// Whether it has the whole list refused.
    pub(crate) refuses: bool,
}

/// What became of tools, by their text.
#[derive(Debug, Default)]
pub(crate) struct Judgements {
    by_text: HashMap<String, Arc<Judgement>>,
    bytes: usize,
}

/// The most tools that are remembered, and the most bytes of their text; beyond, all are forgotten.
const TOOLS: usize = 4096;
const BYTES: usize = 8 << 20;

impl Judgements {
    /// What is known of the tool of this text.
    pub(crate) fn of(&self, text: &str) -> Option<Arc<Judgement>> {
        self.by_text.get(text).cloned()
    }

    /// Remembers a tool.
    pub(crate) fn add(&mut self, text: &str, judgement: Arc<Judgement>) {
        if text.len() > BYTES {
            return;
        }
        if self.by_text.len() >= TOOLS || self.bytes + text.len() > BYTES {
            *self = Self::default();
        }
        if self.by_text.insert(text.to_owned(), judgement).is_none() {
            self.bytes += text.len();
        }
    }
}

/// Judges `tools`, one list, anew.
pub(crate) fn judge(tools: Vec<Value>, options: &JudgeOptions) -> Vec<Judgement> {
    let mut findings: Vec<Vec<Finding>> = tools.iter().map(|_| Vec::new()).collect();
    let judged = judge_tools(Value::Array(tools), options);
    let refuses = judged.list.is_none();
    for finding in judged.findings {
        if let Some(place) = finding.index.and_then(|index| findings.get_mut(index)) {
            place.push(finding);
        }
    }
    let mut contracts = judged.contracts.into_iter();
    let dropped = |finding: &Finding| finding.action == Action::ToolDropped;
    findings
        .into_iter()
        .map(|findings| {
            let stays = !findings.iter().any(dropped);
            let contract = if stays { contracts.next() } else { None };
            Judgement { contract, findings, refuses }
        })
        .collect()
}

/// Whether two of `tools` have one name: then they are not judged alone.
pub(crate) fn share_a_name<'a>(tools: impl Iterator<Item = &'a Value>) -> bool {
    let mut seen = HashSet::new();
    tools.filter_map(|tool| tool.get("name")?.as_str()).any(|name| !seen.insert(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BYTES, Judgement, Judgements, TOOLS};

    #[test]
    fn keeps_a_bounded_number() {
        let nothing = || Arc::new(Judgement { contract: None, findings: vec![], refuses: false });
        let mut judgements = Judgements::default();
        for n in 0..=TOOLS {
            judgements.add(&n.to_string(), nothing());
        }
        assert!(judgements.by_text.len() <= TOOLS);
        for _ in 0..10 {
            judgements.add(&"x".repeat(BYTES / 2), nothing());
            judgements.add(&"y".repeat(BYTES / 2 + 1), nothing());
            judgements.add(&"z".repeat(BYTES + 1), nothing());
            let kept: usize = judgements.by_text.keys().map(String::len).sum();
            assert!(kept <= BYTES && kept == judgements.bytes);
        }
    }
}
