//! Valid values, broken as servers break them: what a repair makes of one is what it was, or there is no repair.

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::Contract;
use toolbond_harness::{corpus, generate, generate::Rng, trials::skipped};

use super::{contract, judge};

/// Values that are tried for each schema.
const VALUES: usize = 12;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("results/broken/corpus", published),
        Trial::test("results/broken/generated", generated),
    ]
}

/// How a value of a schema is broken.
type Break = fn(&Value, &Value, &mut Rng) -> Option<Value>;

const BREAKS: [(&str, Break); 7] = [
    ("text only", |value, _, _| Some(text_only(value))),
    ("JSON text", |value, _, _| Some(content(value.to_string().into()))),
    ("envelope too many", |value, _, _| Some(content(json!({ "result": value })))),
    ("envelope missing", |value, _, _| {
        let members = value.as_object().filter(|members| members.len() == 1)?;
        Some(content(members.get("result")?.clone()))
    }),
    ("number as text", |value, _, rng| {
        at_leaf(value, rng, |leaf| leaf.is_number().then(|| leaf.to_string().into()))
    }),
    ("boolean as text", |value, _, rng| {
        at_leaf(value, rng, |leaf| {
            leaf.as_bool().map(|leaf| if leaf { "True" } else { "false" }.into())
        })
    }),
    ("null for what is not there", |value, schema, rng| {
        let mut members = value.as_object()?.clone();
        let declared = schema.get("properties")?.as_object()?.keys();
        let absent: Vec<_> = declared.filter(|name| !members.contains_key(*name)).collect();
        if absent.is_empty() {
            return None;
        }
        members.insert((*rng.pick(&absent)).clone(), Value::Null);
        Some(content(members.into()))
    }),
];

fn content(value: Value) -> Value {
    Map::from_iter([("content".to_owned(), json!([])), ("structuredContent".to_owned(), value)])
        .into()
}

fn text_only(value: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": value.to_string() }] })
}

/// Changes one leaf that `change` changes, chosen by `rng`.
fn at_leaf(value: &Value, rng: &mut Rng, change: fn(&Value) -> Option<Value>) -> Option<Value> {
    let mut broken = value.clone();
    let mut places = Vec::new();
    let mut pending = vec![(String::new(), value)];
    while let Some((pointer, value)) = pending.pop() {
        match value {
            Value::Array(list) => pending.extend(
                list.iter().enumerate().map(|(at, value)| (format!("{pointer}/{at}"), value)),
            ),
            Value::Object(map) => pending.extend(map.iter().map(|(name, value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{pointer}/{name}"), value)
            })),
            leaf => places.extend(change(leaf).map(|changed| (pointer, changed))),
        }
    }
    if places.is_empty() {
        return None;
    }
    let (pointer, changed) = places.swap_remove(rng.below(places.len()));
    *broken.pointer_mut(&pointer)? = changed;
    Some(content(broken))
}

/// Counts of values that were broken and that came back.
#[derive(Default)]
struct Counts(Vec<(usize, usize)>);

impl Counts {
    /// Breaks `value` in every way.
    fn check(&mut self, contract: &Contract, value: &Value, rng: &mut Rng) {
        self.0.resize(BREAKS.len(), (0, 0));
        for ((name, break_it), (broken, back)) in BREAKS.iter().zip(&mut self.0) {
            let output = contract.output().expect("it has one");
            let Some(result) = break_it(value, output.value(), rng) else { continue };
            let judged = judge(contract, &result);
            if judged.findings.is_empty() {
                continue;
            }
            *broken += 1;
            let Some(repaired) = judged.repaired_result else { continue };
            *back += 1;
            assert_eq!(repaired.content, *value, "{name}: {result} under {}", output.value());
            assert!(output.validate(&repaired.content).is_valid());
        }
    }

    /// Fails unless at least `share` in a hundred of each kind came back, and there are enough of each.
    fn assert(&self, least: usize, share: usize) -> Result<(), Failed> {
        for ((name, _), (broken, back)) in BREAKS.iter().zip(&self.0) {
            if *broken < least || back * 100 < broken * share {
                return Err(format!("{name}: {back} of {broken} came back").into());
            }
        }
        Ok(())
    }
}

fn published() -> Result<Completion, Failed> {
    let servers = match corpus::servers() {
        Ok(servers) => servers,
        Err(reason) => return skipped(&reason),
    };
    let mut rng = Rng::new(5);
    let mut counts = Counts::default();
    for server in servers {
        for schema in server.schemas().filter(|schema| schema.side == "outputSchema") {
            let Ok(contract) = contract(schema.schema) else { continue };
            let output = contract.output().expect("it has one");
            for _ in 0..VALUES {
                let value = generate::sample(&mut rng, schema.schema, 6);
                if output.validate(&value).is_valid() {
                    counts.check(&contract, &value, &mut rng);
                }
            }
        }
    }
    counts.assert(100, 10).map(|()| Completion::Completed)
}

fn generated() -> Result<(), Failed> {
    let mut rng = Rng::new(3);
    let mut counts = Counts::default();
    for _ in 0..400 {
        let schema = schema(&mut rng, 3);
        let root = match rng.below(3) {
            0 => {
                json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] })
            }
            1 => schema,
            _ => object(&mut rng, 3),
        };
        let contract = contract(&root)?;
        let output = contract.output().expect("it has one");
        for _ in 0..VALUES {
            let value = generate::sample(&mut rng, &root, 6);
            if output.validate(&value).is_valid() {
                counts.check(&contract, &value, &mut rng);
            }
        }
    }
    counts.assert(50, 50)
}

/// A schema as a server's author writes one.
fn schema(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 9 }) {
        0 => json!({ "type": "integer" }),
        1 => json!({ "type": "number" }),
        2 => json!({ "type": "boolean" }),
        3 => json!({ "type": "string" }),
        4 => json!({ "type": ["string", "integer", "null"] }),
        5 => json!({ "type": "array", "items": schema(rng, depth - 1) }),
        6 => json!({ "anyOf": [schema(rng, depth - 1), { "type": "null" }] }),
        _ => object(rng, depth),
    }
}

fn object(rng: &mut Rng, depth: usize) -> Value {
    let mut properties = json!({ "absent": { "type": "integer" } });
    let mut required = Vec::new();
    for name in ["a", "b", "c"] {
        properties[name] = schema(rng, depth - 1);
        if rng.one_in(2) {
            required.push(name);
        }
    }
    let closed = rng.one_in(2);
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": !closed })
}
