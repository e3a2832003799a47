//! How often, and how deep, the subschemas of a schema apply each other.
//!
//! Counted over the graph of references, never by expanding it: numbers that grow beyond all
//! bounds saturate.

use super::survey::{Place, Survey};
use crate::engine::StackNeed;

/// What the graph comes to.
#[derive(Debug)]
pub(crate) struct Measure {
    /// The most visits that one place of an instance can get.
    pub(crate) expansion: usize,
    /// The subschema they start from.
    pub(crate) busiest: Place,
    /// How deep the engine can recurse.
    pub(crate) need: StackNeed,
}

/// Measures the graph that `survey` found.
pub(crate) fn measure(survey: &Survey<'_>) -> Measure {
    let count = survey.len();
    let in_place = fold(count, || survey.edges.iter().filter(|edge| edge.2).copied());
    let all = fold(count, || survey.edges.iter().copied());
    let busiest = (0..count).max_by_key(|place| (in_place.visits[*place], count - place));
    let busiest = busiest.unwrap_or_default();
    Measure {
        expansion: in_place.visits[busiest],
        busiest,
        need: StackNeed {
            nested: (!all.has_cycle).then(|| all.longest()),
            in_place: in_place.longest(),
        },
    }
}

/// The ways through embedded resources that start from the schema, each of which the engine compiles
/// on its own: what a dynamic reference means depends on the resources passed on the way.
pub(crate) fn ways(survey: &Survey<'_>) -> usize {
    let number = |place: Place| survey.resource_of[place];
    let mut edges: Vec<(Place, Place, bool)> = survey
        .edges
        .iter()
        .map(|(from, to, _)| (number(*from), number(*to), true))
        .filter(|(from, to, _)| from != to)
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let count = survey.resource_of.iter().max().map_or(0, |most| most + 1);
    let fold = fold(count, || edges.iter().copied());
    fold.visits.into_iter().max().unwrap_or_default()
}

struct Fold {
    /// Visits that start from each subschema, itself included.
    visits: Vec<usize>,
    /// The longest way that starts from each subschema.
    length: Vec<usize>,
    has_cycle: bool,
}

impl Fold {
    fn longest(&self) -> usize {
        self.length.iter().copied().max().unwrap_or_default()
    }
}

/// Adds up from the subschemas that apply no other to those that apply them.
fn fold<I: Iterator<Item = (Place, Place, bool)>>(count: usize, edges: impl Fn() -> I) -> Fold {
    let mut open = vec![0_usize; count];
    let mut starts = vec![0_usize; count + 1];
    for (from, to, _) in edges() {
        open[from] += 1;
        starts[to + 1] += 1;
    }
    for place in 0..count {
        starts[place + 1] += starts[place];
    }
    let mut cursor = starts.clone();
    let mut users = vec![0; starts[count]];
    for (from, to, _) in edges() {
        users[cursor[to]] = from;
        cursor[to] += 1;
    }
    let mut visits = vec![1_usize; count];
    let mut length = vec![1_usize; count];
    let mut done: Vec<Place> = (0..count).filter(|place| open[*place] == 0).collect();
    let mut next = 0;
    while let Some(place) = done.get(next).copied() {
        next += 1;
        for user in users[starts[place]..starts[place + 1]].iter().copied() {
            visits[user] = visits[user].saturating_add(visits[place]);
            length[user] = length[user].max(length[place] + 1);
            open[user] -= 1;
            if open[user] == 0 {
                done.push(user);
            }
        }
    }
    let has_cycle = done.len() < count;
    if has_cycle {
        close_cycles(&mut visits, &mut length, &open);
    }
    Fold { visits, length, has_cycle }
}

/// The engine enters no subschema twice on one way around a cycle, so a way visits each of the
/// subschemas that are left at most once, and has a choice at each.
fn close_cycles(visits: &mut [usize], length: &mut [usize], open: &[usize]) {
    let left = || open.iter().enumerate().filter(|(_, open)| **open > 0);
    let ways = left().fold(1_usize, |ways, (_, open)| ways.saturating_mul(*open));
    let once = left().fold(0_usize, |sum, (place, _)| sum.saturating_add(visits[place]));
    let around = left().count() + left().map(|(place, _)| length[place]).max().unwrap_or_default();
    let total = ways.saturating_mul(once);
    for (place, _) in left() {
        visits[place] = total;
        length[place] = around;
    }
}
