//! Repairing the arguments of a call: what models and hosts write wrong, and what they meant.
//!
//! A repair applies at a place that a violation names, and only where the schema leaves one reading.
//! The arguments that come out are valid, or nothing is changed.

pub(crate) mod boolean_text;
mod change;
mod enum_spelling;
pub(crate) mod json_text;
mod misspelt_property;
pub(crate) mod null_property;
pub(crate) mod number_text;
pub(crate) mod place;
mod repair;
mod repairs;
mod single_value;
mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod undeclared_property;

use std::cell::Cell;

use serde_json::Value;
use toolbond_schema::{Measured, Pointer, Schema, Unfinished, Verdict, Violation, Violations};

pub use self::change::{ArgumentChange, Change};
use self::place::Place;
pub(crate) use self::repair::{Repair, Wrong};
pub(crate) use self::repairs::REPAIRS;
pub use self::terms::{ArgumentTerms, Repairs};
pub use self::text::{large_integers, read_json_text};

/// The most rounds: in each, every place that the violations name can be repaired.
const MAX_ROUNDS: usize = 64;

/// The most changes in one call.
const MAX_CHANGES: usize = 1000;

/// Arguments that [`Mode::Repair`](crate::Mode::Repair) made valid.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RepairedArguments {
    /// The arguments to call the tool with.
    pub arguments: Value,
    /// What changed, in order.
    pub changes: Vec<ArgumentChange>,
}

/// Arguments that a repair made valid, and the fuel that it took.
#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) arguments: Value,
    pub(crate) changes: Vec<ArgumentChange>,
    pub(crate) fuel: u64,
}

/// Arguments that are still invalid after some repairs, and what is wrong with them. The repaired places need no
/// explanation: they are repaired again once the rest is right.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) arguments: Value,
    pub(crate) violations: Violations,
}

/// There was not enough fuel to decide whether arguments can be repaired.
#[derive(Debug)]
pub(crate) struct OutOfFuel;

/// Repairs `arguments`, which break `schema` as `violations` say, by `repairs`, with at most `fuel` steps. Returns
/// what is left to explain if no repair makes them valid, or more than one reading does.
pub(crate) fn repair(
    schema: &Schema,
    arguments: &Value,
    violations: &Violations,
    repairs: &[&'static Repair],
    fuel: u64,
) -> Result<Result<Repaired, Partial>, OutOfFuel> {
    let mut work = Work {
        schema,
        repairs,
        fuel,
        left: fuel,
        size: size(arguments),
        state: State { value: arguments.clone(), violations: violations.clone() },
        changes: Vec::new(),
    };
    work.spend(work.size)?;
    for _ in 0..MAX_ROUNDS {
        let proposals = work.proposals()?;
        let Some((chosen, next)) = work.choose(proposals)? else {
            if work.has_wrapped_in_vain() {
                break;
            }
            let State { value: arguments, violations } = work.state;
            return Ok(Err(Partial { arguments, violations }));
        };
        work.changes.extend(chosen);
        if work.changes.len() > MAX_CHANGES {
            break;
        }
        match next {
            Next::Valid(arguments) => {
                let fuel = work.fuel - work.left;
                return Ok(Ok(Repaired { arguments, changes: work.changes, fuel }));
            }
            Next::Invalid(state) => work.state = state,
        }
    }
    // What is wrong is told of the arguments as they came, not of those where the repairs stopped.
    Ok(Err(Partial { arguments: arguments.clone(), violations: violations.clone() }))
}

/// The values in `value`.
fn size(value: &Value) -> u64 {
    let mut count = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        count += 1;
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            Value::String(text) => count += text.len() as u64 / 64,
            _ => {}
        }
    }
    count
}

/// Arguments that are not valid yet.
struct State {
    value: Value,
    violations: Violations,
}

/// What some changes come to.
enum Next {
    Valid(Value),
    Invalid(State),
}

/// The changes that may be meant at one place.
struct Proposal {
    pointer: Pointer,
    readings: Vec<ArgumentChange>,
    /// A reading that is too weak to be applied, but makes another one ambiguous.
    weak: Option<ArgumentChange>,
}

struct Work<'a> {
    schema: &'a Schema,
    repairs: &'a [&'static Repair],
    fuel: u64,
    left: u64,
    size: u64,
    state: State,
    changes: Vec<ArgumentChange>,
}

impl Work<'_> {
    fn spend(&mut self, steps: u64) -> Result<(), OutOfFuel> {
        self.left = self.left.checked_sub(steps).ok_or(OutOfFuel)?;
        Ok(())
    }

    /// Whether a value was put into an array and is wrong all the same. Its caller wrote no array, and would not know
    /// which element is meant.
    fn has_wrapped_in_vain(&self) -> bool {
        let wraps = self.changes.iter().filter(|it| matches!(it.change, Change::Wrap(_)));
        wraps.into_iter().any(|wrap| {
            let is_below = |violation: &Violation| {
                violation.instance.as_str().starts_with(&format!("{}/", wrap.pointer.as_str()))
            };
            self.state.violations.iter().any(is_below)
        })
    }

    /// What can be changed at the places that the violations name.
    fn proposals(&mut self) -> Result<Vec<Proposal>, OutOfFuel> {
        /// Steps for looking up the schemas of one place.
        const PLACE: u64 = 256;
        /// Steps for comparing a value with one member of an `enum`.
        const MEMBER: u64 = 8;
        let mut pointers: Vec<&Pointer> = Vec::new();
        for violation in &self.state.violations {
            if !pointers.contains(&&violation.instance) {
                pointers.push(&violation.instance);
            }
        }
        let mut proposals = Vec::new();
        let mut steps = 0;
        for pointer in pointers {
            let Some(place) = Place::find(self.schema, &self.state.value, pointer) else {
                continue;
            };
            steps += PLACE + place.value.as_str().map_or(0, |text| text.len() as u64);
            if place.value.is_string() {
                steps += MEMBER * place.strings().count() as u64;
            }
            if steps > self.left {
                return Err(OutOfFuel);
            }
            let here = |violation: &&Violation| violation.instance == *pointer;
            let has = |keywords: &[&str]| {
                let mut violations = self.state.violations.iter().filter(here);
                violations.any(|violation| {
                    keywords.contains(&violation.keyword.as_str())
                        || keywords
                            .iter()
                            .any(|keyword| violation.schema.as_str().ends_with(keyword))
                })
            };
            let wrong = Wrong {
                place,
                refuses_names: has(&["additionalProperties", "unevaluatedProperties"]),
                misses_names: has(&["required"]),
                left: Cell::new(Some(self.left - steps)),
            };
            let mut readings: Vec<ArgumentChange> = Vec::new();
            for repair in self.repairs {
                if repair.is_last_resort && !readings.is_empty() {
                    continue;
                }
                for change in (repair.find)(&wrong) {
                    let same = |other: &ArgumentChange| other.change.is_same(&change);
                    if !readings.iter().any(same) {
                        readings.push(ArgumentChange {
                            rule: repair.rule,
                            pointer: pointer.clone(),
                            change,
                            done: repair.done,
                        });
                    }
                }
            }
            steps = self.left - wrong.left.get().ok_or(OutOfFuel)?;
            // A single value where something else than an array is allowed may be meant for that.
            let is_wrap = |it: &ArgumentChange| matches!(it.change, Change::Wrap(_));
            let weak = if wrong.place.takes_arrays_only() {
                None
            } else {
                readings.iter().position(is_wrap).map(|at| readings.remove(at))
            };
            if !readings.is_empty() {
                proposals.push(Proposal { pointer: pointer.clone(), readings, weak });
            }
        }
        self.spend(steps)?;
        Ok(proposals)
    }

    /// The changes of this round and what they come to: all places at once where each has one reading,
    /// otherwise the first place of which one reading fits.
    fn choose(
        &mut self,
        proposals: Vec<Proposal>,
    ) -> Result<Option<(Vec<ArgumentChange>, Next)>, OutOfFuel> {
        let is_clear =
            |proposal: &Proposal| proposal.readings.len() == 1 && proposal.weak.is_none();
        let is_apart = |proposal: &Proposal| {
            let inside = |other: &Proposal| {
                other.pointer.as_str().starts_with(&format!("{}/", proposal.pointer.as_str()))
            };
            !proposals.iter().any(inside)
        };
        let all: Vec<ArgumentChange> = proposals
            .iter()
            .filter(|proposal| is_clear(proposal) && is_apart(proposal))
            .flat_map(|proposal| proposal.readings.iter().cloned())
            .collect();
        if all.len() > 1
            && let Some(next) = self.attempt(&all)?
        {
            return Ok(Some((all, next)));
        }
        for proposal in proposals {
            let mut fitting = Vec::new();
            for reading in proposal.readings {
                if let Some(next) = self.attempt(std::slice::from_ref(&reading))? {
                    fitting.push((vec![reading], next));
                }
            }
            let is_ambiguous = match proposal.weak {
                Some(weak) if !fitting.is_empty() => {
                    self.attempt(std::slice::from_ref(&weak))?.is_some()
                }
                _ => false,
            };
            if fitting.len() == 1 && !is_ambiguous {
                return Ok(fitting.pop());
            }
        }
        Ok(None)
    }

    /// What `changes` come to; `None` where something is wrong at their places afterwards, or wrong
    /// elsewhere that was right before.
    fn attempt(&mut self, changes: &[ArgumentChange]) -> Result<Option<Next>, OutOfFuel> {
        self.spend(self.size)?;
        let mut value = self.state.value.clone();
        for change in changes {
            if change.apply(&mut value).is_none() {
                return Ok(None);
            }
        }
        let Measured { verdict, fuel, .. } = self.schema.measure_within(&value, self.left);
        self.left = self.left.saturating_sub(fuel);
        let violations = match verdict {
            Verdict::Valid => return Ok(Some(Next::Valid(value))),
            Verdict::Unfinished(Unfinished::Fuel { .. }) => return Err(OutOfFuel),
            Verdict::Unfinished(_) => return Ok(None),
            Verdict::Invalid(violations) => violations,
        };
        let before = &self.state.violations;
        let is_known = |violation: &Violation| {
            before.omitted()
                || before.iter().any(|other| {
                    other.instance == violation.instance
                        && other.schema == violation.schema
                        && other.document == violation.document
                })
        };
        let is_worse = violations.iter().any(|violation| {
            let is_changed = changes
                .iter()
                .any(|change| !change.is_in_object() && change.pointer == violation.instance);
            let is_below = changes.iter().any(|change| {
                let rest = violation.instance.as_str().strip_prefix(change.pointer.as_str());
                rest.is_some_and(|rest| rest.starts_with('/'))
            });
            is_changed || !(is_below || is_known(violation))
        });
        self.size = self.size.max(size(&value));
        Ok((!is_worse).then_some(Next::Invalid(State { value, violations })))
    }
}
