//! One change of the arguments of a call.

use serde_json::{Map, Value};
use toolbond_schema::Pointer;

use crate::{Finding, Rule, json_type::shorten};

/// A change that a repair made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArgumentChange {
    /// The rule that asked for it.
    pub rule: &'static Rule,
    /// The place, in the arguments after the changes before this one.
    pub pointer: Pointer,
    /// What changed there.
    pub change: Change,
    /// What was done, in a few words.
    pub done: &'static str,
}

/// What changes at a place.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Another value.
    Replace {
        /// The value.
        value: Value,
        /// Its JSON text, as the caller wrote it where that is known.
        text: String,
    },
    /// An array with the value as its only item.
    Wrap(Value),
    /// The member at the place goes.
    Remove,
    /// These members of the object at the place go.
    RemoveMembers(Vec<String>),
    /// A member of the object at the place gets another name.
    Rename {
        /// The name it had.
        from: String,
        /// The name it gets.
        to: String,
    },
}

impl Change {
    /// Another value, written in the usual way.
    pub(super) fn replace(value: Value) -> Self {
        let text = value.to_string();
        Self::Replace { value, text }
    }

    /// Whether both come to the same value.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Replace { value, .. }, Self::Replace { value: other, .. })
            | (Self::Wrap(value), Self::Wrap(other)) => value == other,
            (Self::Remove, Self::Remove) => true,
            _ => false,
        }
    }
}

impl ArgumentChange {
    /// A finding that says what was done.
    pub(crate) fn finding(&self) -> Finding {
        let list = |names: &[String]| {
            let names: Vec<_> = names.iter().map(|it| format!("`{}`", shorten(it))).collect();
            names.join(", ")
        };
        let done = match &self.change {
            Change::Rename { from, to } => {
                format!("renamed `{}` to `{}`", shorten(from), shorten(to))
            }
            Change::RemoveMembers(names) => format!("left out {}", list(names)),
            _ => self.done.to_owned(),
        };
        self.rule.finding(done).at(self.pointer.clone())
    }

    /// Whether the change is about members of the object at the place, which stays.
    pub(super) fn is_in_object(&self) -> bool {
        matches!(self.change, Change::RemoveMembers(_) | Change::Rename { .. })
    }

    /// Changes `arguments`; `None` where there is no such place.
    pub(super) fn apply(&self, arguments: &mut Value) -> Option<()> {
        let pointer = self.pointer.as_str();
        match &self.change {
            Change::Replace { value, .. } | Change::Wrap(value) => {
                arguments.pointer_mut(pointer)?.clone_from(value);
            }
            Change::Remove => {
                let (parent, _) = pointer.rsplit_once('/')?;
                let name = self.pointer.tokens().last()?;
                arguments.pointer_mut(parent)?.as_object_mut()?.shift_remove(&name)?;
            }
            Change::RemoveMembers(names) => {
                let members = arguments.pointer_mut(pointer)?.as_object_mut()?;
                members.retain(|name, _| !names.contains(name));
            }
            Change::Rename { from, to } => {
                let members = arguments.pointer_mut(pointer)?.as_object_mut()?;
                let renamed: Map<String, Value> = std::mem::take(members)
                    .into_iter()
                    .map(|(name, value)| (if name == *from { to.clone() } else { name }, value))
                    .collect();
                *members = renamed;
            }
        }
        Some(())
    }
}
