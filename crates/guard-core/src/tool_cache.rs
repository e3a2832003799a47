//! Judged tools by their text, so that each schema is compiled once for all conversations.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use serde_json::Value;
use toolbond_contract::{Action, Contract, Finding, Form, JudgeOptions, Side, judge_tools};
use toolbond_targets::View;

use crate::audience::Audience;
use crate::learned::Stamp;
use crate::lock::lock;
use crate::weight::{STATE, weigh};

/// A judged tool.
#[derive(Debug)]
pub struct JudgedTool {
    /// Its name, as the server wrote it.
    pub name: Option<String>,
    /// Its contract; `None` where the tool is dropped.
    pub contract: Option<Contract>,
    /// The findings about it.
    pub findings: Vec<Finding>,
    /// Whether the whole list is refused because of it.
    pub refuses_list: bool,
    /// The bytes of the documents that were added to it.
    pub added_bytes: usize,
    /// What clients get of it, by who they are.
    shapes: Mutex<Vec<(Audience, Stamp, Shape)>>,
    weight: Weight,
}

/// A tool as the clients of one audience get it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its text, where it is not the same as that of the server.
    pub text: Option<Arc<str>>,
    /// How its results reach a client.
    pub form: Form,
    /// How to restore its calls, where clients get it in the form of a target.
    pub view: Option<Arc<View>>,
}

impl JudgedTool {
    /// Where its memory is counted.
    pub fn shelf(&self) -> &Arc<Shelf> {
        &self.weight.shelf
    }

    /// What its patterns compile to.
    pub fn pattern_states(&self) -> usize {
        self.contract.as_ref().map_or(0, pattern_states)
    }

    /// Why it has no output schema although its server declares one: that cannot be used.
    pub fn unusable_output(&self) -> Option<&Finding> {
        let contract = self.contract.as_ref().filter(|contract| contract.output().is_none());
        let is_about = |finding: &&Finding| {
            finding.side == Some(Side::Output) && finding.action == Action::MemberDropped
        };
        contract.and_then(|_| self.findings.iter().find(is_about))
    }

    /// The shape for clients of `audience`, which `make` makes unless it is known.
    /// The stamp is that of what was learned of its output schema.
    pub fn shape(&self, audience: &Audience, stamp: Stamp, make: impl FnOnce() -> Shape) -> Shape {
        let find = |shapes: &[(Audience, Stamp, Shape)]| {
            let mut shapes = shapes.iter();
            let found = shapes.find(|(known, at, _)| known == audience && *at == stamp);
            found.map(|(_, _, shape)| shape.clone())
        };
        if let Some(shape) = find(&lock(&self.shapes)) {
            return shape;
        }
        let shape = make();
        let mut shapes = lock(&self.shapes);
        // What was learned since made the others wrong.
        shapes.retain(|(_, at, _)| *at == stamp);
        // Clients may name any revision.
        if shapes.len() < MAX_SHAPES && audience.revision.to_string().len() <= MAX_REVISION {
            shapes.push((audience.clone(), stamp, shape.clone()));
        }
        shape
    }
}

/// The most shapes of a tool that are remembered, and the longest name of their revision.
const MAX_SHAPES: usize = 8;
const MAX_REVISION: usize = 32;

/// Judged tools by their text: at most `MAX_TOOLS` with `MAX_BYTES` of text.
#[derive(Debug)]
pub struct ToolCache(Cache<String, Arc<JudgedTool>, TextWeight>);

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
    pub fn get(&self, text: &str) -> Option<Arc<JudgedTool>> {
        self.0.get(text).cloned()
    }

    fn is_unused(tool: &Arc<JudgedTool>) -> bool {
        Arc::strong_count(tool) == 1
    }

    /// Adds a tool. Tools that were not used for long make room for it.
    pub fn insert(&mut self, text: &str, tool: Arc<JudgedTool>) {
        self.0.insert(text.to_owned(), tool);
    }
}

/// Tools that no list uses make room first.
impl Holder for Mutex<ToolCache> {
    fn last_use(&self) -> Option<u64> {
        lock(self).0.iter().any(|(_, tool)| ToolCache::is_unused(tool)).then_some(0)
    }

    fn let_go(&self) {
        lock(self).0.retain(|_, tool| !ToolCache::is_unused(tool));
    }
}

/// The memory that compiled tools take in all conversations. Where it is short, those who hold tools and were used longest
/// ago let go of them.
#[derive(Debug)]
pub struct Shelf {
    limit: usize,
    used: AtomicUsize,
    holders: Mutex<Vec<Weak<dyn Holder>>>,
}

/// Who holds compiled tools.
pub trait Holder: Debug + Send + Sync {
    /// When it was last used, as [`tick`] tells it; `None` where it has nothing to let go of.
    fn last_use(&self) -> Option<u64>;

    /// Drops what it holds.
    fn let_go(&self);
}

/// What a compiled tool counts for, as long as it lives.
#[derive(Debug)]
struct Weight {
    shelf: Arc<Shelf>,
    bytes: usize,
}

/// Counts uses.
pub fn tick() -> u64 {
    static USES: AtomicU64 = AtomicU64::new(1);
    USES.fetch_add(1, Ordering::Relaxed)
}

impl Shelf {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0), holders: Mutex::default() }
    }

    /// An empty cache of tools.
    pub fn cache(&self) -> Arc<Mutex<ToolCache>> {
        let cache = Arc::new(Mutex::default());
        self.add(&(Arc::clone(&cache) as _));
        cache
    }

    /// Makes room for what `holder` holds. If that alone is more than there is room for, it stays.
    pub fn add(&self, holder: &Arc<dyn Holder>) {
        let others: Vec<_> = {
            let mut holders = lock(&self.holders);
            let is = |it: &Weak<dyn Holder>| std::ptr::addr_eq(it.as_ptr(), Arc::as_ptr(holder));
            holders.retain(|it| it.strong_count() > 0 && !is(it));
            holders.push(Arc::downgrade(holder));
            if self.used() <= self.limit {
                return;
            }
            holders.iter().filter(|it| !is(it)).filter_map(Weak::upgrade).collect()
        };
        while self.used() > self.limit {
            let used = others.iter().filter_map(|it| Some((it.last_use()?, it)));
            let Some((_, oldest)) = used.min_by_key(|(last_use, _)| *last_use) else { return };
            oldest.let_go();
        }
    }

    /// The states that the patterns of one list may have: a text of a few bytes may compile to very many.
    pub fn pattern_states(&self) -> usize {
        self.limit / STATE
    }

    /// The bytes that compiled tools take, about.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn weigh(self: &Arc<Self>, bytes: usize) -> Weight {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Weight { shelf: Arc::clone(self), bytes }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.shelf.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// What the patterns of a tool compile to.
fn pattern_states(contract: &Contract) -> usize {
    let schemas = std::iter::once(contract.input()).chain(contract.output());
    schemas.map(|schema| schema.schema().pattern_states()).sum()
}

/// Judges `tools` as one list.
pub fn judge(tools: Vec<Value>, options: &JudgeOptions, shelf: &Arc<Shelf>) -> Vec<JudgedTool> {
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
    let names: Vec<_> = tools.iter().map(|tool| (name(tool), weigh(tool))).collect();
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
        .map(|(findings, (name, bytes))| {
            let stays = !findings.iter().any(dropped);
            let contract = if stays { contracts.next() } else { None };
            let weight =
                contract.as_ref().map_or(0, |contract| bytes + STATE * pattern_states(contract));
            let weight = shelf.weigh(weight);
            let shapes = Mutex::default();
            JudgedTool { name, contract, findings, refuses_list, added_bytes: 0, shapes, weight }
        })
        .collect()
}

/// Whether two of `names` are the same. Tools of one name cannot be judged one by one.
pub fn have_duplicates<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = HashSet::new();
    names.any(|name| !seen.insert(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolbond_contract::{Form, JudgeOptions, Revision};

    use super::{
        Audience, JudgedTool, MAX_BYTES, MAX_SHAPES, MAX_TOOLS, Shape, Shelf, Stamp, ToolCache,
        judge, lock,
    };

    fn nothing() -> Arc<JudgedTool> {
        let shelf = Arc::new(Shelf::new(0));
        judge(vec![json!(null)], &JudgeOptions::default(), &shelf).pop().unwrap().into()
    }

    #[test]
    fn a_shape_is_made_once_for_a_bounded_number_of_audiences() {
        let tool = nothing();
        let shape = || Shape { text: Some("{}".into()), form: Form::Natural, view: None };
        let audience = Audience::from(Revision::V2025_11_25);
        let stamp = Stamp::default();
        tool.shape(&audience, stamp, shape);
        let again = tool.shape(&audience, stamp, || unreachable!("it is known"));
        assert_eq!(again.text.as_deref(), Some("{}"));
        tool.shape(&Revision::from("x".repeat(1000).as_str()).into(), stamp, shape);
        assert_eq!(lock(&tool.shapes).len(), 1);
        let target = toolbond_targets::target("gemini").ok();
        tool.shape(&Audience { target, ..audience }, stamp, shape);
        assert_eq!(lock(&tool.shapes).len(), 2);
        for n in 0..2 * MAX_SHAPES {
            tool.shape(&Revision::from(format!("revision {n}").as_str()).into(), stamp, shape);
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
