//! Wrong calls of published tools, the same ones in every run.

use std::collections::HashMap;
use std::fmt;

use anyhow::anyhow;
use serde_json::{Value, json};
use toolbond_contract::Contract;
use toolbond_testkit::corpus;

use super::advice::{Place, find, find_mut};
use super::mistakes::{Mistake, is_there, overlap};
use super::random::Random;
use super::sample::{Sampler, Spot};

/// Calls of each group.
const EACH: usize = 100;

/// Calls of each group that one server gets.
const MOST_PER_SERVER: usize = 4;

/// Larger schemas are not used.
const LARGEST: usize = 20_000;

/// A call that is wrong.
pub(super) struct Call {
    pub(super) server: String,
    pub(super) contract: Contract,
    pub(super) group: Group,
    pub(super) mistakes: Vec<Mistake>,
    /// Before the mistakes.
    pub(super) valid: Value,
    pub(super) wrong: Value,
}

impl Call {
    pub(super) fn schema(&self) -> &Value {
        &self.contract.value()["inputSchema"]
    }
}

/// Calls with the same number and kind of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// One mistake, mostly at the top.
    One(Mistake),
    /// One mistake inside of another object or an array.
    Nested,
    Two,
    Three,
}

impl Group {
    pub(super) fn all() -> Vec<Self> {
        let one = Mistake::ALL.into_iter().map(Self::One);
        one.chain([Self::Nested, Self::Two, Self::Three]).collect()
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(mistake) => mistake.fmt(f),
            Self::Nested => f.write_str("one mistake in a nested place"),
            Self::Two => f.write_str("two mistakes"),
            Self::Three => f.write_str("three mistakes"),
        }
    }
}

/// The calls of a seed; an error if there is no corpus.
pub(super) fn choose(seed: u64) -> anyhow::Result<Vec<Call>> {
    let mut random = Random::new(seed);
    let mut tools: Vec<(String, Value)> = Vec::new();
    for server in corpus::servers().map_err(|reason| anyhow!("{reason}"))? {
        let tool = |tool: &Value| {
            let schema = &tool["inputSchema"];
            let size = schema.to_string().len();
            // Without the output schema, which has no part in this.
            let tool = json!({ "name": tool["name"], "inputSchema": schema });
            (size <= LARGEST).then(|| (server.name.clone(), tool))
        };
        tools.extend(server.tools().iter().filter_map(tool));
    }
    random.shuffle(&mut tools);
    let mut calls = Vec::new();
    for group in Group::all() {
        let mut of_server: HashMap<&str, usize> = HashMap::new();
        let before = calls.len();
        for (server, tool) in &tools {
            if calls.len() == before + EACH {
                break;
            }
            let count = of_server.entry(server).or_default();
            if *count == MOST_PER_SERVER {
                continue;
            }
            if let Some(call) = make(server, tool, group, &mut random) {
                *count += 1;
                calls.push(call);
            }
        }
    }
    Ok(calls)
}

fn make(server: &str, tool: &Value, group: Group, random: &mut Random) -> Option<Call> {
    let schema = &tool["inputSchema"];
    let mut sampler = Sampler { root: schema, random, spots: Vec::new() };
    let valid = sampler.make(schema, &Vec::new())?;
    let spots = sampler.spots;
    let contract = Contract::received(tool.clone()).ok()?;
    let is_valid = |arguments: &Value| contract.input().schema().is_valid(arguments);
    if !valid.is_object() || !is_valid(&valid) {
        return None;
    }
    let (mut wrong, mut mistakes) = (valid.clone(), Vec::new());
    let mut places: Vec<Place> = Vec::new();
    let wanted = match group {
        Group::Two => 2,
        Group::Three => 3,
        _ => 1,
    };
    for _ in 0..wanted * 8 {
        if mistakes.len() == wanted {
            break;
        }
        let mistake = match group {
            Group::One(mistake) => mistake,
            _ => *random.choose(&Mistake::ALL)?,
        };
        let is_candidate = |spot: &&Spot| {
            let is_deep = spot.place.len() >= 2
                || spot.place.len() == 1 && spot.schema["properties"].is_object();
            (group != Group::Nested || is_deep) && is_there(&wrong, &spot.place)
        };
        let candidates: Vec<&Spot> = spots.iter().filter(is_candidate).collect();
        let tried = candidates.len().min(12);
        for _ in 0..tried {
            let spot = random.choose(&candidates)?;
            let mut next = wrong.clone();
            let Some(place) = mistake.make(&mut next, spot, random) else { continue };
            let is_free = places.iter().all(|other| !overlap(other, &place));
            // Each mistake is one on its own.
            let mut alone = valid.clone();
            let is_wrong = mistakes.is_empty() && !is_valid(&next)
                || copy(&mut alone, &next, &place) && !is_valid(&alone);
            if is_free && is_wrong {
                wrong = next;
                mistakes.push(mistake);
                places.push(place);
                break;
            }
        }
    }
    let call = Call { server: server.to_owned(), contract, group, mistakes, valid, wrong };
    (call.mistakes.len() == wanted).then_some(call)
}

/// Makes `to` have at `place` what `from` has there, or nothing as well.
fn copy(to: &mut Value, from: &Value, place: &[String]) -> bool {
    let Some((last, outer)) = place.split_last() else { return false };
    let (Some(value), Some(target)) = (find(from, place).cloned(), find_mut(to, outer)) else {
        // Removed or renamed: the required property is missing.
        if let Some(Value::Object(members)) = find_mut(to, outer) {
            members.shift_remove(last);
            return true;
        }
        return false;
    };
    match target {
        Value::Object(members) => _ = members.insert(last.clone(), value),
        Value::Array(items) => match last.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
            Some(item) => *item = value,
            None => return false,
        },
        _ => return false,
    }
    true
}
