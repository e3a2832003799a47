//! A task, and what it is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

/// When a task comes back.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Repeat {
    #[schemars(range(min = 1))]
    pub every_days: u16,
    /// The last day; for ever without it.
    pub until: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Task {
    pub id: u32,
    pub title: String,
    pub priority: Priority,
    pub due: Option<String>,
    pub repeat: Option<Repeat>,
    pub assignee: Option<String>,
    pub done_by: Option<String>,
}
