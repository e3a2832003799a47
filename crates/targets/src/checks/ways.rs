//! How many combinations of branches a schema has, which is what looking for contradictions costs.

use serde_json::{Map, Value};

use super::place::target;
use crate::node::walk;

/// The most steps of counting.
const STEPS: usize = 10_000;

/// The most subschemas and references inside of each other. A reference can lead back to where it is.
const DEEPEST: usize = 64;

/// Counts the combinations of branches at each place of `schema`, and adds them up. The count is larger than any limit if
/// counting takes too many steps or does not end.
pub(super) fn count(schema: &Value) -> usize {
    let mut counter = Counter { root: schema, steps: 0, depth: 0 };
    let mut total = 0_usize;
    walk(schema, &mut |node| {
        let ways = counter.ways(node.schema);
        if ways > 1 {
            total = total.saturating_add(ways);
        }
    });
    total
}

struct Counter<'a> {
    root: &'a Value,
    steps: usize,
    depth: usize,
}

impl Counter<'_> {
    /// The combinations at one place: those of parts that apply together multiply, those of branches add up.
    fn ways(&mut self, schema: &Value) -> usize {
        let Value::Object(map) = schema else { return 1 };
        if self.steps == STEPS || self.depth == DEEPEST {
            return usize::MAX;
        }
        self.steps += 1;
        self.depth += 1;
        let mut ways = 1_usize;
        for (keyword, value) in map {
            ways = ways.saturating_mul(match (keyword.as_str(), value) {
                ("anyOf", Value::Array(branches)) => self.sum(branches),
                // Each pair of branches excludes the other.
                ("oneOf", Value::Array(branches)) => {
                    self.sum(branches).max(branches.len() * branches.len() / 8)
                }
                ("allOf", Value::Array(parts)) => {
                    parts.iter().fold(1, |ways, part| ways.saturating_mul(self.ways(part)))
                }
                ("not", inner) => self.ways(inner).saturating_add(keywords(inner)),
                ("if", inner) => self.ways(inner).saturating_add(1),
                ("then" | "else", inner) => self.ways(inner),
                ("dependentSchemas", Value::Object(named)) => {
                    let mut ways = 1_usize;
                    for inner in named.values() {
                        ways = ways.saturating_mul(self.ways(inner).saturating_add(1));
                    }
                    ways
                }
                ("$ref", Value::String(reference)) => {
                    target(self.root, reference).map_or(1, |target| self.ways(target))
                }
                _ => 1,
            });
        }
        self.depth -= 1;
        ways.max(1)
    }

    fn sum(&mut self, branches: &[Value]) -> usize {
        branches.iter().fold(0, |ways, branch| ways.saturating_add(self.ways(branch)))
    }
}

/// The keywords of `schema`, each of which is a branch of its negation.
fn keywords(schema: &Value) -> usize {
    schema.as_object().map_or(0, Map::len)
}
