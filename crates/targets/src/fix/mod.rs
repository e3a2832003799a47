//! Changes to a tool that a finding proposes.

mod apply;
mod repair;
mod target;

use serde::Serialize;
use serde_json::Value;
use toolbond_contract::Pointer;

pub use apply::fix_tools;
pub(crate) use repair::add_repairs;
pub(crate) use target::{empty_properties, modern_output};

/// A change that removes the cause of a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fix {
    /// What the change does, in one line, as an order: "add `items: {}`".
    pub title: String,
    /// Whether the schema accepts the same values before and after, so that `--fix` may apply it.
    pub safe: bool,
    /// The edits, with pointers into the tool. They are applied in this order.
    pub edits: Vec<Edit>,
}

/// One edit of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "edit")]
#[non_exhaustive]
pub enum Edit {
    /// Writes `value` at `pointer`; adds the last member of the pointer if it is absent.
    Set {
        /// The place in the tool.
        pointer: Pointer,
        /// The new value.
        value: Value,
    },
    /// Removes the member or element at `pointer`.
    Remove {
        /// The place in the tool.
        pointer: Pointer,
    },
}

impl Fix {
    /// A change that keeps the meaning of the tool.
    #[must_use]
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self::new(title, true, edits)
    }

    /// A change that a person has to decide about.
    #[must_use]
    pub fn suggestion(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self::new(title, false, edits)
    }

    pub(crate) fn new(title: impl Into<String>, safe: bool, edits: Vec<Edit>) -> Self {
        Self { title: title.into(), safe, edits }
    }

    /// Applies the edits to `tool`. Edits whose place is not there do nothing. Returns whether `tool` changed.
    pub fn apply(&self, tool: &mut Value) -> bool {
        let mut changed = false;
        for edit in &self.edits {
            changed |= edit.apply(tool);
        }
        changed
    }
}

impl Edit {
    /// The place in the tool.
    #[must_use]
    pub const fn pointer(&self) -> &Pointer {
        let (Self::Set { pointer, .. } | Self::Remove { pointer }) = self;
        pointer
    }

    fn apply(&self, tool: &mut Value) -> bool {
        let pointer = self.pointer();
        let Some(last) = pointer.tokens().last() else { return false };
        let Some((parent, _)) = pointer.as_str().rsplit_once('/') else { return false };
        match (tool.pointer_mut(parent), self) {
            (Some(Value::Object(members)), Self::Set { value, .. }) => {
                members.insert(last, value.clone()).as_ref() != Some(value)
            }
            (Some(Value::Object(members)), Self::Remove { .. }) => {
                members.shift_remove(&last).is_some()
            }
            (Some(Value::Array(items)), edit) => {
                let Some(index) = last.parse().ok().filter(|at| *at < items.len()) else {
                    return false;
                };
                match edit {
                    Self::Set { value, .. } => {
                        std::mem::replace(&mut items[index], value.clone()) != *value
                    }
                    Self::Remove { .. } => {
                        items.remove(index);
                        true
                    }
                }
            }
            _ => false,
        }
    }
}
