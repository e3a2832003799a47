//! What was learned of the output schemas that a server breaks.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolbond_contract::{Contract, Relaxation, relax};
use toolbond_schema::{Schema, Verdict};

use crate::lock::lock;
use crate::weight::weigh_schema;

/// What was learned of the output schema of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// What is relaxed in the schema.
    pub relaxation: Relaxation,
    /// How many times the server broke what clients were to get.
    pub times: u8,
}

/// The most times that a schema is relaxed. After that the tool has none for clients.
pub const MAX_TIMES: u8 = 3;

/// The most tools, and the most bytes that they take, about.
const MAX_TOOLS: usize = 1024;
const MAX_BYTES: usize = 1 << 20;

impl Learned {
    /// Clients get no schema.
    pub fn gone() -> Self {
        Self { relaxation: Relaxation::default(), times: MAX_TIMES + 1 }
    }

    /// What clients get of the output schema; `None` stands for no schema.
    pub fn relaxation(&self) -> Option<&Relaxation> {
        (self.times <= MAX_TIMES).then_some(&self.relaxation)
    }

    /// The bytes that it takes, about.
    fn bytes(&self) -> usize {
        let steps = self.relaxation.steps().iter();
        64 + steps.map(|step| 64 + step.at.as_str().len()).sum::<usize>()
    }

    /// What is known after `value` broke the schema too.
    fn after(&self, contract: &Contract, value: Option<&Value>) -> Self {
        let times = self.times.saturating_add(1);
        let relaxed = contract.output().zip(value).filter(|_| times <= MAX_TIMES);
        match relaxed.and_then(|(it, value)| relax(it.schema(), &self.relaxation, value)) {
            Some(relaxation) => Self { relaxation, times },
            None => Self::gone(),
        }
    }
}

/// What was learned of the tools of one server, by the digest of their definition. It is bounded: what was learned first
/// makes room.
#[derive(Debug, Default)]
pub struct LearnedTools {
    entries: Mutex<AHashMap<[u8; 32], Entry>>,
    compiled: Mutex<CompiledSchemas>,
    /// How often something was learned.
    changes: AtomicU64,
    stamps: AtomicU64,
}

/// The most bytes that compiled schemas take, about.
const MAX_COMPILED: usize = 16 << 20;

/// Relaxed schemas that were compiled, by the digest of the tool and where what was learned of it is in memory. That stays
/// there as long as the schema is here.
#[derive(Debug)]
struct CompiledSchemas(Cache<([u8; 32], usize), CompiledSchema, SchemaWeight>);

type CompiledSchema = (Schema, Arc<Learned>);

impl Default for CompiledSchemas {
    fn default() -> Self {
        Self(Cache::with_weighter(64, MAX_COMPILED as u64, SchemaWeight))
    }
}

#[derive(Clone, Debug)]
struct SchemaWeight;

impl<K> Weighter<K, CompiledSchema> for SchemaWeight {
    fn weight(&self, _: &K, (schema, _): &CompiledSchema) -> u64 {
        weigh_schema(schema) as u64
    }
}

#[derive(Clone, Debug)]
struct Entry {
    learned: Arc<Learned>,
    stamp: Stamp,
}

/// One state of what is known of an output schema. The default is the author's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(u64);

impl LearnedTools {
    /// Adds what an earlier run learned. What was learned in this one stays.
    pub fn restore(&self, entries: impl IntoIterator<Item = ([u8; 32], Learned)>) {
        for (digest, learned) in entries {
            let known = lock(&self.entries).contains_key(&digest);
            if learned.times > 0 && !known {
                self.insert(digest, learned.into());
            }
        }
    }

    /// Forgets all that is known.
    pub fn clear(&self) {
        lock(&self.entries).clear();
    }

    /// All that is known, in the order in which it was learned.
    pub fn entries(&self) -> Vec<([u8; 32], Learned)> {
        let entries = lock(&self.entries);
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_unstable_by_key(|(_, entry)| entry.stamp);
        entries
            .into_iter()
            .map(|(digest, entry)| (*digest, Learned::clone(&entry.learned)))
            .collect()
    }

    /// Grows whenever something is learned.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// What is known of a tool, and the stamp of that.
    pub fn get(&self, contract: &Contract) -> Option<(Arc<Learned>, Stamp)> {
        let entries = lock(&self.entries);
        if entries.is_empty() {
            return None;
        }
        let entry = entries.get(contract.digest().as_bytes())?;
        Some((Arc::clone(&entry.learned), entry.stamp))
    }

    /// Whether clients with the schema that `learned` makes of the author's take `content`, the structured content of a
    /// result that breaks the author's, or none; `None` where that takes too many steps to find out. Where nothing was
    /// learned, clients have the author's, without formats.
    pub fn accepts(
        &self,
        learned: Option<&Arc<Learned>>,
        contract: &Contract,
        content: Option<&Value>,
    ) -> Option<bool> {
        let relaxation = learned.map(|learned| learned.relaxation());
        let (Some(output), None | Some(Some(_))) = (contract.output(), relaxation) else {
            return Some(true);
        };
        let Some(content) = content else { return Some(false) };
        let address = learned.map_or(0, |learned| Arc::as_ptr(learned).addr());
        let key = (*contract.digest().as_bytes(), address);
        let known = lock(&self.compiled).0.get(&key).map(|(schema, _)| schema.clone());
        let schema = if let Some(schema) = known {
            schema
        } else {
            let relaxed = match relaxation.flatten() {
                Some(relaxation) => match relaxation.apply(output.value()) {
                    Some(relaxed) => Cow::Owned(relaxed),
                    // What cannot be relaxed in this way is handed out without a schema.
                    None => return Some(true),
                },
                None => Cow::Borrowed(output.value()),
            };
            let open = relax::open_choices(&relaxed).and_then(|it| it.apply(&relaxed));
            let handed_out = match (open, learned) {
                (Some(open), _) => open,
                (None, Some(_)) => relaxed.into_owned(),
                (None, None) => return Some(false),
            };
            let schema = output.schema().compile_alike(&handed_out).ok()?;
            let learned = learned.cloned().unwrap_or_default();
            lock(&self.compiled).0.insert(key, (schema.clone(), learned));
            schema
        };
        match schema.validate(content) {
            Verdict::Valid => Some(true),
            Verdict::Invalid(_) => Some(false),
            Verdict::Unfinished(_) => None,
        }
    }

    /// Learns that the server broke what is known, with `value` as structured content or with none. Another conversation
    /// may have learned meanwhile: then the next result tells more.
    pub fn learn(&self, contract: &Contract, value: Option<&Value>) -> Arc<Learned> {
        let digest = *contract.digest().as_bytes();
        let known = lock(&self.entries).get(&digest).cloned();
        let before = known.as_ref().map(|entry| Arc::clone(&entry.learned)).unwrap_or_default();
        let learned = Arc::new(before.after(contract, value));
        if lock(&self.entries).get(&digest).map(|entry| entry.stamp) == known.map(|it| it.stamp) {
            self.insert(digest, Arc::clone(&learned));
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
        learned
    }

    fn insert(&self, digest: [u8; 32], learned: Arc<Learned>) {
        let mut entries = lock(&self.entries);
        let stamp = Stamp(self.stamps.fetch_add(1, Ordering::Relaxed) + 1);
        entries.insert(digest, Entry { learned, stamp });
        let bytes = |entries: &AHashMap<_, Entry>| {
            entries.values().map(|entry| entry.learned.bytes()).sum::<usize>()
        };
        while entries.len() > MAX_TOOLS || bytes(&entries) > MAX_BYTES {
            let oldest = entries.iter().min_by_key(|(_, it)| it.stamp).map(|(digest, _)| *digest);
            let Some(oldest) = oldest else { return };
            entries.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolbond_contract::Contract;

    use super::{Learned, LearnedTools, MAX_COMPILED, MAX_TIMES, MAX_TOOLS, lock};

    fn contract(name: &str) -> Contract {
        let output = json!({ "type": "object", "required": ["a"], "additionalProperties": false });
        let input = json!({ "type": "object" });
        let tool = json!({ "name": name, "inputSchema": input, "outputSchema": output });
        Contract::received(tool).unwrap()
    }

    #[test]
    fn a_schema_is_relaxed_three_times_and_then_gone() {
        let (tools, tool) = (LearnedTools::default(), contract("t"));
        assert!(tools.get(&tool).is_none());
        let mut stamps = Vec::new();
        for n in 0..=MAX_TIMES {
            let learned = tools.learn(&tool, Some(&json!({ n.to_string(): n })));
            let (known, stamp) = tools.get(&tool).unwrap();
            assert_eq!(known, learned);
            assert!(!stamps.contains(&stamp));
            stamps.push(stamp);
            assert_eq!(known.relaxation().is_some(), n < MAX_TIMES, "{n}");
        }
        assert_eq!(tools.changes(), u64::from(MAX_TIMES) + 1);
        // Nothing of a result is remembered beside places of the schema.
        let text = serde_json::to_string(&tools.entries()[0].1).unwrap();
        assert_eq!(text, r#"{"relaxation":[],"times":4}"#);
    }

    #[test]
    fn a_result_without_content_leaves_no_schema() {
        let tools = LearnedTools::default();
        assert!(tools.learn(&contract("t"), None).relaxation().is_none());
    }

    #[test]
    fn what_was_learned_is_restored() {
        let (first, tool) = (LearnedTools::default(), contract("t"));
        first.learn(&tool, Some(&json!({})));
        let text = serde_json::to_string(&first.entries()).unwrap();
        let second = LearnedTools::default();
        second.restore(serde_json::from_str::<Vec<([u8; 32], Learned)>>(&text).unwrap());
        assert_eq!(second.entries(), first.entries());
        assert_eq!(second.changes(), 0);
        assert_eq!(second.get(&tool).unwrap().0.times, 1);
        // A new version of the tool starts afresh.
        assert!(second.get(&contract("other")).is_none());
    }

    #[test]
    fn a_relaxed_schema_is_compiled_once_and_room_for_them_is_bounded() {
        let tools = LearnedTools::default();
        let compiled = |tools: &LearnedTools| {
            let compiled = lock(&tools.compiled);
            (compiled.0.len(), compiled.0.weight())
        };
        let learned = tools.learn(&contract("t"), Some(&json!({ "b": 1 })));
        for content in [json!({ "b": 2 }), json!({ "b": "x" }), json!([])] {
            let accepted = tools.accepts(Some(&learned), &contract("t"), Some(&content));
            assert_eq!(accepted, Some(content.is_object()));
        }
        assert_eq!(compiled(&tools).0, 1);
        // What is learned next is another schema.
        let next = tools.learn(&contract("t"), Some(&json!([])));
        assert_eq!(tools.accepts(Some(&next), &contract("t"), Some(&json!([]))), Some(true));
        assert_eq!(tools.accepts(Some(&learned), &contract("t"), Some(&json!([]))), Some(false));
        let wide: Vec<_> =
            (0..2000).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect();
        let output = json!({ "required": ["a"], "properties": Value::from_iter(wide) });
        for n in 0..10 {
            let tool = json!({ "name": n.to_string(), "inputSchema": { "type": "object" }, "outputSchema": output });
            let tool = Contract::received(tool).unwrap();
            let learned = tools.learn(&tool, Some(&json!({})));
            assert_eq!(tools.accepts(Some(&learned), &tool, Some(&json!({}))), Some(true));
        }
        let (count, weight) = compiled(&tools);
        assert!(count < 12 && weight <= MAX_COMPILED as u64, "{count} {weight}");
    }

    #[test]
    fn it_is_bounded() {
        let tools = LearnedTools::default();
        let learned = Learned { times: 1, ..Learned::default() };
        tools.restore((0..2 * MAX_TOOLS).map(|n| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&n.to_le_bytes());
            (digest, learned.clone())
        }));
        assert_eq!(tools.entries().len(), MAX_TOOLS);
    }
}
