//! Judged tools by their text, so that each schema is compiled once for all conversations.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use serde_json::Value;
use toolbond_contract::{Action, Contract, Finding, Form, JudgeOptions, judge_tools};
use toolbond_targets::View;

use crate::audience::Audience;
use crate::lock::lock;

/// A judged tool.
#[derive(Debug)]
pub(crate) struct JudgedTool {
    /// Its name, as the server wrote it.
    pub(crate) name: Option<String>,
    /// Its contract; `None` where the tool is dropped.
    pub(crate) contract: Option<Contract>,
    /// The findings about it.
    pub(crate) findings: Vec<Finding>,
    /// Whether the whole list is refused because of it.
    pub(crate) refuses_list: bool,
    /// The bytes of the documents that were added to it.
    pub(crate) added_bytes: usize,
    /// What clients get of it, by who they are.
    shapes: Mutex<Vec<(Audience, Shape)>>,
}

/// A tool as the clients of one audience get it.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Its text, where it is not the same as that of the server.
    pub(crate) text: Option<Arc<str>>,
    /// How its results reach a client.
    pub(crate) form: Form,
    /// How to restore its calls, where clients get it in the form of a target.
    pub(crate) view: Option<Arc<View>>,
}

impl JudgedTool {
    /// The shape for clients of `audience`, which `make` makes unless it is known.
    pub(crate) fn shape(&self, audience: &Audience, make: impl FnOnce() -> Shape) -> Shape {
        let find = |shapes: &[(Audience, Shape)]| {
            shapes.iter().find(|(known, _)| known == audience).map(|(_, shape)| shape.clone())
        };
        if let Some(shape) = find(&lock(&self.shapes)) {
            return shape;
        }
        let shape = make();
        let mut shapes = lock(&self.shapes);
        // Clients may name any revision.
        if shapes.len() < MAX_SHAPES && audience.revision.to_string().len() <= MAX_REVISION {
            shapes.push((audience.clone(), shape.clone()));
        }
        shape
    }
}

/// The most shapes of a tool that are remembered, and the longest name of their revision.
const MAX_SHAPES: usize = 8;
const MAX_REVISION: usize = 32;

/// Judged tools by their text: at most [`MAX_TOOLS`] with [`MAX_BYTES`] of text.
#[derive(Debug)]
pub(crate) struct ToolCache(Cache<String, Arc<JudgedTool>, TextWeight>);

/// The most tools in the cache.
const MAX_TOOLS: usize = 4096;

/// The most bytes of text in the cache.
const MAX_BYTES: usize = 8 << 20;

/// Weighs a tool by its text and what was added to it. Short texts count more, so that one capacity bounds number and bytes.
#[derive(Clone, Debug)]
struct TextWeight;

impl Weighter<String, Arc<JudgedTool>> for TextWeight {
    fn weight(&self, text: &String, tool: &Arc<JudgedTool>) -> u64 {
        (text.len() + tool.added_bytes).max(MAX_BYTES / MAX_TOOLS) as u64
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
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
    let names: Vec<_> = tools.iter().map(name).collect();
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
        .zip(names)
        .map(|(findings, name)| {
            let stays = !findings.iter().any(dropped);
            let contract = if stays { contracts.next() } else { None };
            let shapes = Mutex::default();
            JudgedTool { name, contract, findings, refuses_list, added_bytes: 0, shapes }
        })
        .collect()
}

/// Whether two of `names` are the same. Tools of one name cannot be judged one by one.
pub(crate) fn have_duplicates<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = HashSet::new();
    names.any(|name| !seen.insert(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolbond_contract::{Form, JudgeOptions, Revision};

    use super::{
        Audience, JudgedTool, MAX_BYTES, MAX_SHAPES, MAX_TOOLS, Shape, ToolCache, judge, lock,
    };

    fn nothing() -> Arc<JudgedTool> {
        judge(vec![json!(null)], &JudgeOptions::default()).pop().unwrap().into()
    }

    #[test]
    fn a_shape_is_made_once_for_a_bounded_number_of_audiences() {
        let tool = nothing();
        let shape = || Shape { text: Some("{}".into()), form: Form::Natural, view: None };
        let audience = Audience::from(Revision::V2025_11_25);
        tool.shape(&audience, shape);
        let again = tool.shape(&audience, || unreachable!("it is known"));
        assert_eq!(again.text.as_deref(), Some("{}"));
        tool.shape(&Revision::from("x".repeat(1000).as_str()).into(), shape);
        assert_eq!(lock(&tool.shapes).len(), 1);
        let target = toolbond_targets::target("gemini").ok();
        tool.shape(&Audience { target, ..audience }, shape);
        assert_eq!(lock(&tool.shapes).len(), 2);
        for n in 0..2 * MAX_SHAPES {
            tool.shape(&Revision::from(format!("revision {n}").as_str()).into(), shape);
        }
        assert_eq!(lock(&tool.shapes).len(), MAX_SHAPES);
    }

    #[test]
    fn keeps_a_bounded_number() {
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
