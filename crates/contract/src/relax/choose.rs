//! Choosing the steps that make a violation go away.

use std::collections::HashSet;

use serde_json::Value;
use toolbond_schema::{Dialect, Pointer, Violation};

use super::polarity::{Edge, Graph, ends};
use super::rewrite::{Rewritten, is_reference};
use super::step::{Keyword, Kind, Loosening, MAX_STEPS, Step};
use crate::project::schema_map::SchemaMap;

/// The most schemas that are looked at to find out which apply to one value.
const MAX_APPLIED: usize = 4096;

/// The steps so far.
pub(super) struct Choice<'a, 'b> {
    map: &'a SchemaMap<'b>,
    graph: Graph,
    steps: Vec<Step>,
    /// The steps that the schema that is validated against has.
    carried_out: usize,
}

impl<'a, 'b> Choice<'a, 'b> {
    pub(super) fn new(map: &'a SchemaMap<'b>, steps: Vec<Step>) -> Self {
        let carried_out = steps.len();
        Self { map, graph: Graph::new(map), steps, carried_out }
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether no step changes a schema that must not accept more, and nothing counts on what a step takes away.
    pub(super) fn is_sound(&self) -> bool {
        let inverted = self.graph.inverted(&self.inverting());
        let mut evaluating = self.steps.iter().filter_map(|step| match step.change {
            Loosening::Drop(keyword) if keyword.evaluates() => Some((step, keyword)),
            _ => None,
        });
        self.changed().all(|place| !inverted.contains(&place))
            && evaluating.all(|(step, keyword)| {
                let place = self.map.place_at(step.at.as_str());
                let needed = place.map(|place| self.unevaluated(place, keyword));
                let needed = needed.unwrap_or_default();
                needed.into_iter().all(|(place, change)| self.has(place, change))
            })
    }

    /// Takes note that the schema that is validated against has all steps so far.
    pub(super) fn start_round(&mut self) {
        self.carried_out = self.steps.len();
    }

    /// Adds steps that make `violation` of `value` go away.
    pub(super) fn settle(&mut self, relaxed: &Rewritten, value: &Value, violation: &Violation) {
        if violation.document.is_some() {
            return;
        }
        let Some((place, keyword)) = self.locate(relaxed, violation) else { return };
        let Some(found) = value.pointer(violation.instance.as_str()) else { return };
        if let Some(kind) = self.kind_beside_ref(place, value, &violation.instance, found) {
            self.add(kind.0, Loosening::AllowBesideRef(kind.1));
            return;
        }
        let kind = match violation.keyword.as_str() {
            "propertyNames" => Kind::String,
            _ => Kind::of(found),
        };
        for candidate in self.candidates(place, &keyword, found, kind) {
            let is_tried = |(place, change): &(usize, Loosening)| {
                let step = self.position(*place, *change);
                step.is_some_and(|step| step < self.carried_out)
            };
            if !candidate.iter().all(is_tried) {
                for (place, change) in candidate {
                    self.add(place, change);
                }
                return;
            }
        }
    }

    /// The place in the author's schema that `violation` of the relaxed one is about, and its keyword.
    fn locate(&self, relaxed: &Rewritten, violation: &Violation) -> Option<(usize, String)> {
        let mut pointer = violation.schema.clone();
        let (place, rest) = loop {
            let (place, rest) = deepest(relaxed, pointer.as_str())?;
            let author = self.map.places[place].schema;
            let Some(first) = rest.first() else { break (place, rest) };
            if author.get(first).is_some() || first == "anyOf" || rest.len() == 1 {
                break (place, rest);
            }
            // Within an embedded resource, the pointer may have a token too many.
            pointer = Pointer::from(relaxed.places[place].as_str());
            rest[1..].iter().for_each(|token| pointer.push(token));
        };
        let author = self.map.places[place].schema;
        if let Some(keyword) = rest.first() {
            return Some((place, keyword.clone()));
        }
        let (parent, keyword) = self.map.places[place].pointer.rsplit_once('/').unwrap_or_default();
        if violation.keyword.is_empty() || (*author == Value::Bool(false) && keyword != "contains")
        {
            return Some((place, String::new()));
        }
        // The schema below a keyword as a whole, such as that of `not`.
        Some((self.map.place_at(parent)?, keyword.to_owned()))
    }

    /// What may be done at `place` about `keyword`, which `found` breaks, best first. Each is a list of changes.
    fn candidates(
        &self,
        place: usize,
        keyword: &str,
        found: &Value,
        kind: Kind,
    ) -> Vec<Vec<(usize, Loosening)>> {
        let here = |change| vec![(place, change)];
        let at = &self.map.places[place];
        let dropped = || Keyword::named(keyword).map(|it| here(Loosening::Drop(it)));
        let mut all = Vec::new();
        match keyword {
            "" => all.push(here(Loosening::Accept)),
            "type" => {
                all.push(here(Loosening::Allow(kind)));
                if kind == Kind::Integer {
                    all.push(here(Loosening::Allow(Kind::Number)));
                }
                all.extend(dropped());
            }
            "required" => {
                let names = at.schema.get("required").and_then(Value::as_array);
                let names = names.into_iter().flatten().enumerate();
                let absent = names.filter(|(_, name)| {
                    name.as_str().is_some_and(|name| found.get(name).is_none())
                });
                let optional = |(index, _)| (place, Loosening::Optional(index));
                all.push(absent.map(optional).collect());
                all.extend(dropped());
            }
            "oneOf" if at.schema.get("anyOf").is_none() => all.push(here(Loosening::AnyOf)),
            "anyOf" if is_reference(at.schema) => {
                all.push(here(Loosening::AllowBesideRef(kind)));
            }
            "anyOf" => {
                all.push(here(Loosening::Branch(kind)));
                if kind == Kind::Integer {
                    all.push(here(Loosening::Branch(Kind::Number)));
                }
                let keyword = if at.schema.get("anyOf").is_some() { "anyOf" } else { "oneOf" };
                all.extend(Keyword::named(keyword).map(|it| here(Loosening::Drop(it))));
            }
            "minContains" => {
                all.extend(Keyword::named("contains").map(|it| here(Loosening::Drop(it))));
            }
            "unevaluatedItems" | "unevaluatedProperties" => {
                all.extend(Keyword::named(keyword).map(|it| here(Loosening::Open(it))));
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                if at.dialect == Dialect::Draft4 =>
            {
                all.extend(dropped());
                let bound = if keyword.ends_with("inimum") { "minimum" } else { "maximum" };
                all.extend(Keyword::named(bound).map(|it| here(Loosening::Drop(it))));
            }
            _ => all.extend(dropped()),
        }
        all
    }

    /// Adds a step, and those without which the schema could refuse what it accepted.
    fn add(&mut self, place: usize, change: Loosening) {
        if self.has(place, change) || self.steps.len() > MAX_STEPS {
            return;
        }
        let at = Pointer::from(self.map.places[place].pointer.as_str());
        self.steps.push(Step { at, change });
        if let Loosening::Drop(keyword) = change
            && keyword.evaluates()
        {
            for (place, change) in self.unevaluated(place, keyword) {
                self.add(place, change);
            }
        }
        self.end_inversions();
    }

    fn has(&self, place: usize, change: Loosening) -> bool {
        self.position(place, change).is_some()
    }

    fn position(&self, place: usize, change: Loosening) -> Option<usize> {
        let at = self.map.places[place].pointer.as_str();
        self.steps.iter().position(|step| step.at.as_str() == at && step.change == change)
    }

    /// What opens the keywords that are about properties and items that `dropped` evaluated at `place`.
    fn unevaluated(&self, place: usize, dropped: Keyword) -> Vec<(usize, Loosening)> {
        let opened: &[_] = match dropped.name() {
            "contains" => &["unevaluatedItems"],
            _ => &["unevaluatedItems", "unevaluatedProperties"],
        };
        let above = self.graph.leading_to(place);
        let mut all = Vec::new();
        for holder in (0..self.map.places.len()).filter(|holder| above.contains(holder)) {
            for &keyword in opened {
                let around = &self.map.places[holder];
                let is_read = around.dialect >= Dialect::Draft201909;
                let Some(value) = around.schema.get(keyword).filter(|_| is_read) else { continue };
                let below = around.children.iter().find(|(under, _)| *under == keyword);
                match (value, below, Keyword::named(keyword)) {
                    (Value::Bool(true), ..) => {}
                    (Value::Bool(false), Some((_, below)), _) => {
                        all.push((*below, Loosening::Accept));
                    }
                    (_, _, Some(keyword)) => all.push((holder, Loosening::Open(keyword))),
                    _ => {}
                }
            }
        }
        all
    }

    /// Ends inversions until no changed schema is inverted. What is left is found by [`Choice::is_sound`].
    fn end_inversions(&mut self) {
        while self.steps.len() <= MAX_STEPS {
            let inverting = self.inverting();
            let inverted = self.graph.inverted(&inverting);
            let Some(place) = self.changed().find(|place| inverted.contains(place)) else { return };
            let leading = self.graph.leading_to(place);
            let mut above = inverting.iter().filter(|edge| leading.contains(&edge.target));
            // An outer one first: what is below it may not be changed before.
            let edge = above.clone().find(|edge| !inverted.contains(&edge.holder));
            let Some(edge) = edge.or_else(|| above.next()).copied() else { return };
            let change = match edge.inverting {
                Some("oneOf") if self.map.places[edge.holder].schema.get("anyOf").is_none() => {
                    Some(Loosening::AnyOf)
                }
                Some(keyword) => Keyword::named(keyword).map(Loosening::Drop),
                None => None,
            };
            let Some(change) = change.filter(|change| !self.has(edge.holder, *change)) else {
                return;
            };
            self.add(edge.holder, change);
        }
    }

    /// The edges that still invert.
    fn inverting(&self) -> Vec<Edge> {
        self.graph.inverting(|edge| {
            let at = self.map.places[edge.holder].pointer.as_str();
            let mut here = self.steps.iter().filter(|step| step.at.as_str() == at);
            here.any(|step| ends(step.change, edge))
        })
    }

    /// The places that a step changes.
    fn changed(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().filter_map(|step| self.map.place_at(step.at.as_str()))
    }

    /// The place of the only reference through which the scalar `found` came to `place`, if others lead there too, and the
    /// type to allow beside it.
    fn kind_beside_ref(
        &self,
        place: usize,
        value: &Value,
        at: &Pointer,
        found: &Value,
    ) -> Option<(usize, Kind)> {
        if found.is_array() || found.is_object() || self.uses(place) < 2 {
            return None;
        }
        let applied = self.applied(value, at)?;
        let mut holders = self.map.links.iter().filter(|link| {
            link.target.is_some_and(|target| target.place == place)
                && applied.contains(&link.holder)
        });
        let holder = holders.next()?.holder;
        let kind = Kind::of(found);
        let is_usable = holders.next().is_none()
            && is_reference(self.map.places[holder].schema)
            && !self.has(holder, Loosening::AllowBesideRef(kind))
            && !self.graph.inverted(&self.inverting()).contains(&holder);
        is_usable.then_some((holder, kind))
    }

    /// The ways to `place`: references, and the keyword that holds it.
    fn uses(&self, place: usize) -> usize {
        let links = self.map.links.iter().filter_map(|link| link.target);
        let holders = self.map.places.iter().flat_map(|holder| &holder.children);
        links.filter(|target| target.place == place).count()
            + holders
                .filter(|(keyword, child)| {
                    *child == place && !matches!(*keyword, "$defs" | "definitions")
                })
                .count()
    }

    /// The places that may apply to what is at `at` in `value`; `None` if there are too many.
    fn applied(&self, value: &Value, at: &Pointer) -> Option<HashSet<usize>> {
        let mut here = value;
        let mut places = self.in_place(HashSet::from([0]))?;
        for token in at.tokens() {
            let is_array = here.is_array();
            here = match here {
                Value::Array(list) => list.get(token.parse::<usize>().ok()?)?,
                other => other.get(&token)?,
            };
            let mut below = HashSet::new();
            for place in places {
                let children = self.map.places[place].children.iter();
                below.extend(children.filter_map(|(keyword, child)| {
                    let pointer = Pointer::from(self.map.places[*child].pointer.as_str());
                    let named = || pointer.tokens().last().is_some_and(|last| last == token);
                    let applies = match *keyword {
                        "properties" => !is_array && named(),
                        "patternProperties" | "additionalProperties" | "unevaluatedProperties" => {
                            !is_array
                        }
                        "prefixItems" => is_array && named(),
                        "items" | "additionalItems" | "contains" | "unevaluatedItems" => is_array,
                        _ => false,
                    };
                    applies.then_some(*child)
                }));
            }
            places = self.in_place(below)?;
        }
        Some(places)
    }

    /// `start`, and the places that apply to the same value.
    fn in_place(&self, start: HashSet<usize>) -> Option<HashSet<usize>> {
        let mut pending: Vec<usize> = start.iter().copied().collect();
        let mut seen = start;
        while let Some(place) = pending.pop() {
            let children = self.map.places[place].children.iter().filter(|(keyword, _)| {
                matches!(
                    *keyword,
                    "allOf"
                        | "anyOf"
                        | "oneOf"
                        | "not"
                        | "if"
                        | "then"
                        | "else"
                        | "dependentSchemas"
                        | "dependencies"
                )
            });
            let links = self.map.links_of(place).filter_map(|link| link.target);
            let next: Vec<usize> =
                children.map(|(_, child)| *child).chain(links.map(|it| it.place)).collect();
            for place in next {
                if seen.insert(place) {
                    pending.push(place);
                }
            }
            if seen.len() > MAX_APPLIED {
                return None;
            }
        }
        Some(seen)
    }
}

/// The innermost place of the relaxed schema that `pointer` leads through, and the tokens below it.
fn deepest(relaxed: &Rewritten, pointer: &str) -> Option<(usize, Vec<String>)> {
    let is_above = |place: &str| {
        let rest = pointer.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let places = relaxed.places.iter().enumerate().filter(|(_, place)| is_above(place));
    let (place, at) = places.max_by_key(|(_, place)| place.len())?;
    Some((place, Pointer::from(&pointer[at.len()..]).tokens().collect()))
}
