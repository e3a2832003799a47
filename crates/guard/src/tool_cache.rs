//! Judged tools by their text, so that each schema is compiled once for all conversations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use toolpact_contract::{Action, Contract, Finding, JudgeOptions, judge_tools};

/// A judged tool.
#[derive(Debug)]
pub(crate) struct JudgedTool {
    /// Its contract; `None` where the tool is dropped.
    pub(crate) contract: Option<Contract>,
    /// The findings about it.
    pub(crate) findings: Vec<Finding>,
    /// Whether the whole list is refused because of it.
    pub(crate) refuses_list: bool,
}

/// Judged tools, by their text.
#[derive(Debug, Default)]
pub(crate) struct ToolCache {
    by_text: HashMap<String, Arc<JudgedTool>>,
    bytes: usize,
}

/// The most tools in the cache, and the most bytes of their text. A full cache is emptied.
const TOOLS: usize = 4096;
const BYTES: usize = 8 << 20;

impl ToolCache {
    /// The judged tool of this text.
    pub(crate) fn get(&self, text: &str) -> Option<Arc<JudgedTool>> {
        self.by_text.get(text).cloned()
    }

    /// Remembers a tool.
    pub(crate) fn insert(&mut self, text: &str, tool: Arc<JudgedTool>) {
        if text.len() > BYTES {
            return;
        }
        if self.by_text.len() >= TOOLS || self.bytes + text.len() > BYTES {
            *self = Self::default();
        }
        if self.by_text.insert(text.to_owned(), tool).is_none() {
            self.bytes += text.len();
        }
    }
}

/// Judges `tools` as one list.
pub(crate) fn judge(tools: Vec<Value>, options: &JudgeOptions) -> Vec<JudgedTool> {
    let mut findings: Vec<Vec<Finding>> = tools.iter().map(|_| Vec::new()).collect();
    let judged = judge_tools(Value::Array(tools), options);
    let refuses_list = judged.list.is_none();
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
            JudgedTool { contract, findings, refuses_list }
        })
        .collect()
}

/// Whether two of `tools` have the same name. Such tools cannot be judged one by one.
pub(crate) fn have_duplicate_names<'a>(tools: impl Iterator<Item = &'a Value>) -> bool {
    let mut seen = HashSet::new();
    tools.filter_map(|tool| tool.get("name")?.as_str()).any(|name| !seen.insert(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{BYTES, JudgedTool, TOOLS, ToolCache};

    #[test]
    fn keeps_a_bounded_number() {
        let nothing =
            || Arc::new(JudgedTool { contract: None, findings: vec![], refuses_list: false });
        let mut cache = ToolCache::default();
        for n in 0..=TOOLS {
            cache.insert(&n.to_string(), nothing());
        }
        assert!(cache.by_text.len() <= TOOLS);
        for _ in 0..10 {
            cache.insert(&"x".repeat(BYTES / 2), nothing());
            cache.insert(&"y".repeat(BYTES / 2 + 1), nothing());
            cache.insert(&"z".repeat(BYTES + 1), nothing());
            let kept: usize = cache.by_text.keys().map(String::len).sum();
            assert!(kept <= BYTES && kept == cache.bytes);
        }
    }
}
