//! A way to repair a wrong value, and what it is given.

use std::cell::Cell;
use std::collections::HashSet;

use super::change::Change;
use super::place::Place;
use super::text::{self, Parsed};
use crate::Rule;

/// One way to repair a wrong value.
pub(crate) struct Repair {
    pub(crate) rule: &'static Rule,
    /// The changes that may be what was meant.
    pub(crate) find: fn(&Wrong<'_>) -> Vec<Change>,
    /// Whether it is on without being asked for.
    pub(crate) is_default: bool,
    /// Whether it applies only where no other repair does.
    pub(crate) is_last_resort: bool,
    /// What it did, for the finding.
    pub(crate) done: &'static str,
}

/// A value that breaks its schema.
pub(crate) struct Wrong<'a> {
    pub(crate) place: Place<'a>,
    /// Whether the schema refuses names of properties here.
    pub(crate) refuses_names: bool,
    /// Whether a required property is missing here.
    pub(crate) misses_names: bool,
    /// The steps that are left for finding a repair; `None` if there were too few.
    pub(super) left: Cell<Option<u64>>,
}

impl Wrong<'_> {
    /// What the value stands for, if it is JSON text where the schema takes no strings.
    pub(crate) fn parsed(&self) -> Option<Parsed> {
        let text = self.place.value.as_str()?;
        if self.place.allows_own_type() { None } else { text::parse(text) }
    }

    /// Takes `steps`; whether there were as many left.
    pub(crate) fn pay(&self, steps: usize) -> bool {
        self.left.set(self.left.get().and_then(|left| left.checked_sub(steps as u64)));
        self.left.get().is_some()
    }

    /// The properties that are not declared, where a name is wrong or missing.
    pub(crate) fn undeclared(&self) -> Option<Vec<&str>> {
        let members = self.place.value.as_object()?;
        if !(self.refuses_names || self.misses_names) || self.place.has_patterns() {
            return None;
        }
        let declared: HashSet<_> = self.place.declared().collect();
        if !self.pay(members.len() + declared.len()) {
            return None;
        }
        let names = members.keys().map(String::as_str);
        Some(names.filter(|name| !declared.contains(name)).collect())
    }
}
