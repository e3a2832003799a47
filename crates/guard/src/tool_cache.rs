//! Judged tools by their text, so that each schema is compiled once for all conversations.

use std::collections::HashSet;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
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

/// Judged tools by their text: at most [`MAX_TOOLS`] with [`MAX_BYTES`] of text.
#[derive(Debug)]
pub(crate) struct ToolCache(Cache<String, Arc<JudgedTool>, TextWeight>);

/// The most tools in the cache.
const MAX_TOOLS: usize = 4096;

/// The most bytes of text in the cache.
const MAX_BYTES: usize = 8 << 20;

/// Weighs a tool by its text. Short texts count more, so that one capacity bounds number and bytes.
#[derive(Clone, Debug)]
struct TextWeight;

impl Weighter<String, Arc<JudgedTool>> for TextWeight {
    fn weight(&self, text: &String, _: &Arc<JudgedTool>) -> u64 {
        text.len().max(MAX_BYTES / MAX_TOOLS) as u64
    }
}

impl Default for ToolCache {
    fn default() -> Self {
        Self(Cache::with_weighter(64, MAX_BYTES as u64, TextWeight))
    }
}

impl ToolCache {
    /// Returns the judged tool with this text.
    pub(crate) fn get(&self, text: &str) -> Option<Arc<JudgedTool>> {
        self.0.get(text).cloned()
    }

    /// Adds a tool. Tools that were not used for long make room for it.
    pub(crate) fn insert(&mut self, text: &str, tool: Arc<JudgedTool>) {
        self.0.insert(text.to_owned(), tool);
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

    use super::{JudgedTool, MAX_BYTES, MAX_TOOLS, ToolCache};

    #[test]
    fn keeps_a_bounded_number() {
        let nothing =
            || Arc::new(JudgedTool { contract: None, findings: vec![], refuses_list: false });
        let mut cache = ToolCache::default();
        let used = "used".to_owned();
        cache.insert(&used, nothing());
        for n in 0..2 * MAX_TOOLS {
            assert!(cache.get(&used).is_some());
            cache.insert(&n.to_string(), nothing());
        }
        assert!((MAX_TOOLS / 2..=MAX_TOOLS).contains(&cache.0.len()));
        for _ in 0..10 {
            cache.insert(&"x".repeat(MAX_BYTES / 2), nothing());
            cache.insert(&"y".repeat(MAX_BYTES / 2 + 1), nothing());
            cache.insert(&"z".repeat(MAX_BYTES + 1), nothing());
            let kept: usize = cache.0.iter().map(|(text, _)| text.len()).sum();
            assert!(kept <= MAX_BYTES);
        }
    }
}
