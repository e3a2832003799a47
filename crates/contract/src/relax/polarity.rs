//! Which schemas may accept more without the whole accepting less.
//!
//! What a schema under `not`, `if`, `oneOf` or, beside `maxContains`, `contains` accepts makes the schema around it refuse.
//! A schema that can be reached through such a keyword is *inverted*. All others may be relaxed: then every schema above
//! them accepts at least what it accepted. That includes `unevaluatedProperties` and `unevaluatedItems`, which are about
//! fewer places the more the schemas beside them accept.

use std::collections::HashSet;

use serde_json::Value;
use toolbond_schema::Dialect;

use super::step::Loosening;
use crate::project::schema_map::SchemaMap;

/// The ways from a schema to those that decide about it.
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// Where the edges from a place lead.
    below: Vec<Vec<usize>>,
    /// Where the edges to a place come from.
    above: Vec<Vec<usize>>,
}

/// One way.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) holder: usize,
    pub(super) target: usize,
    /// The keyword that makes the holder refuse what the target accepts.
    pub(super) inverting: Option<&'static str>,
}

impl Graph {
    pub(super) fn new(map: &SchemaMap<'_>) -> Self {
        let mut edges = Vec::new();
        for (holder, place) in map.places.iter().enumerate() {
            for (keyword, target) in &place.children {
                if !matches!(*keyword, "$defs" | "definitions" | "contentSchema") {
                    let inverting = inverting(keyword, place.schema, place.dialect);
                    edges.push(Edge { holder, target: *target, inverting });
                }
            }
        }
        for link in &map.links {
            let targets = link.target.map(|target| target.place).into_iter();
            for target in targets.chain(dynamic_targets(map, link.keyword, link.text)) {
                edges.push(Edge { holder: link.holder, target, inverting: None });
            }
        }
        let mut below = vec![Vec::new(); map.places.len()];
        let mut above = below.clone();
        for edge in &edges {
            below[edge.holder].push(edge.target);
            above[edge.target].push(edge.holder);
        }
        Self { edges, below, above }
    }

    /// The edges that invert, those that `is_gone` aside.
    pub(super) fn inverting(&self, is_gone: impl Fn(&Edge) -> bool) -> Vec<Edge> {
        let edges = self.edges.iter().filter(|edge| edge.inverting.is_some() && !is_gone(edge));
        edges.copied().collect()
    }

    /// The places that can be reached through one of `inverting`.
    pub(super) fn inverted(&self, inverting: &[Edge]) -> HashSet<usize> {
        reach(&self.below, inverting.iter().map(|edge| edge.target))
    }

    /// The places from which `place` can be reached, itself included.
    pub(super) fn leading_to(&self, place: usize) -> HashSet<usize> {
        reach(&self.above, [place])
    }
}

/// The places that can be reached from `start`, which is included.
fn reach(next: &[Vec<usize>], start: impl IntoIterator<Item = usize>) -> HashSet<usize> {
    let mut pending: Vec<usize> = start.into_iter().collect();
    let mut seen: HashSet<usize> = pending.iter().copied().collect();
    while let Some(place) = pending.pop() {
        for next in &next[place] {
            if seen.insert(*next) {
                pending.push(*next);
            }
        }
    }
    seen
}

/// The keyword, if it makes `holder` refuse what the schema below it accepts.
fn inverting(keyword: &str, holder: &Value, dialect: Dialect) -> Option<&'static str> {
    let has = |keyword: &str| holder.get(keyword).is_some();
    match keyword {
        "not" => Some("not"),
        "if" if has("then") || has("else") => Some("if"),
        "oneOf" if holder["oneOf"].as_array().is_some_and(|list| list.len() > 1) => Some("oneOf"),
        "contains" if has("maxContains") && dialect >= Dialect::Draft201909 => Some("maxContains"),
        _ => None,
    }
}

/// Where a reference may lead besides its static target.
fn dynamic_targets(map: &SchemaMap<'_>, keyword: &str, text: &str) -> Vec<usize> {
    let name = text.rsplit_once('#').map(|(_, name)| name);
    let is_target = |schema: &Value| match keyword {
        "$dynamicRef" => schema.get("$dynamicAnchor").and_then(Value::as_str) == name,
        "$recursiveRef" => schema.get("$recursiveAnchor") == Some(&Value::Bool(true)),
        _ => false,
    };
    let places = map.places.iter().enumerate();
    places.filter(|(_, place)| is_target(place.schema)).map(|(at, _)| at).collect()
}

/// Whether `change` of the holder of `edge` ends its inverting.
pub(super) fn ends(change: Loosening, edge: &Edge) -> bool {
    match (change, edge.inverting) {
        (Loosening::AnyOf, Some("oneOf")) => true,
        (Loosening::Drop(keyword), Some(inverting)) => keyword.name() == inverting,
        _ => false,
    }
}
