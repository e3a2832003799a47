//! What a message says to change, whatever its format.

use serde_json::Value;

/// The names and indices that lead to a value of the arguments.
pub(super) type Place = Vec<String>;

/// One thing that a message says about the arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Advice {
    /// The value at this place has to be something else.
    Change { place: Place, wanted: Wanted },
    /// The object at this place lacks a property.
    Add { place: Place, name: String, wanted: Wanted },
    /// A property of the object at this place has another name.
    Rename { place: Place, from: String, to: String },
    /// A property of the object at this place is not allowed.
    Remove { place: Place, name: String },
    /// The object at this place has a property that is not allowed, and the message does not say which.
    RemoveSome { place: Place },
}

/// What a message says about a value that is wanted; empty where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// An example, or the default.
    pub(super) example: Option<Value>,
    /// The allowed values, or some of them.
    pub(super) allowed: Vec<Value>,
    /// Names of JSON types.
    pub(super) types: Vec<String>,
    /// What each item of an array has to be.
    pub(super) items: Option<Box<Wanted>>,
    /// The members that an object has to have.
    pub(super) members: Vec<(String, Wanted)>,
    /// A `format`.
    pub(super) format: Option<String>,
    /// A regular expression.
    pub(super) pattern: Option<String>,
    pub(super) bounds: Vec<Bound>,
}

/// A limit on a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtLeast(f64),
    Above(f64),
    AtMost(f64),
    Below(f64),
    MultipleOf(f64),
    /// Characters, items or members.
    Shortest(usize),
    Longest(usize),
}

impl Wanted {
    pub(super) fn of_types<T: Into<String>>(types: impl IntoIterator<Item = T>) -> Self {
        Self { types: types.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub(super) fn one_of(allowed: impl IntoIterator<Item = Value>) -> Self {
        Self { allowed: allowed.into_iter().collect(), ..Self::default() }
    }

    pub(super) fn within(bound: Bound) -> Self {
        Self { bounds: vec![bound], ..Self::default() }
    }

    pub(super) fn matching(pattern: impl Into<String>) -> Self {
        Self { pattern: Some(pattern.into()), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How far a branch of a union is from the arguments: a wrong type of the whole is furthest, then wrong constants, by
/// which branches are usually told apart, then the number of mistakes.
pub(super) fn distance(place: &[String], branch: &[Advice]) -> (bool, usize, usize) {
    let wanted = |advice: &Advice| match advice {
        Advice::Change { place, wanted } => Some((place.clone(), wanted.clone())),
        _ => None,
    };
    let changes: Vec<_> = branch.iter().filter_map(wanted).collect();
    let is_other_type = changes.iter().any(|(at, wanted)| at == place && !wanted.types.is_empty());
    let constants = changes.iter().filter(|(_, wanted)| !wanted.allowed.is_empty()).count();
    (is_other_type, constants, branch.len())
}

/// The branch that is nearest to the arguments, the first of those that are as near.
pub(super) fn nearest(place: &[String], branches: Vec<Vec<Advice>>) -> Vec<Advice> {
    let read = branches.into_iter().filter(|branch| !branch.is_empty());
    read.min_by_key(|branch| distance(place, branch)).unwrap_or_default()
}

/// The place that a JSON Pointer names.
pub(super) fn pointer(text: &str) -> Place {
    let tokens = text.split('/').skip(1);
    tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect()
}

/// What stands at `place`.
pub(super) fn find<'a>(arguments: &'a Value, place: &[String]) -> Option<&'a Value> {
    place.iter().try_fold(arguments, |value, step| match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The same as [`find`], to change it.
pub(super) fn find_mut<'a>(arguments: &'a mut Value, place: &[String]) -> Option<&'a mut Value> {
    place.iter().try_fold(arguments, |value, step| match value {
        Value::Object(members) => members.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}
