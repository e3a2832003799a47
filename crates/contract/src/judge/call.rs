//! What a call comes to.

use serde_json::{Map, Value, json};

use crate::Finding;

/// The arguments or the result of a call after judgement.
#[derive(Clone, Debug)]
#[must_use]
pub struct JudgedCall {
    /// What validation came to.
    pub outcome: Outcome,
    /// What there is to say, one finding for each broken rule up to the limit.
    pub findings: Vec<Finding>,
    /// The tool error to answer with, in place of calling the tool or of its result.
    pub refusal: Option<Map<String, Value>>,
    /// The steps that validation took.
    pub fuel: u64,
}

impl JudgedCall {
    pub(super) const fn of(outcome: Outcome) -> Self {
        Self { outcome, findings: Vec::new(), refusal: None, fuel: 0 }
    }

    pub(super) const fn fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }
}

/// What the validation of a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing was checked: the mode is off, there is no output schema, or the result is an error,
    /// asks for input, or stands for a task.
    NotJudged,
    /// The contract is kept.
    Valid,
    /// The contract is broken.
    Invalid,
    /// A limit ended the check before it was decided; never take this for valid.
    Unfinished,
}

/// A result with `isError: true` and `text` for the model to act on.
///
/// Fields that one revision requires and another does not know, such as `resultType`, are for
/// whoever puts it on the wire.
///
/// ```
/// let error = toolpact_contract::tool_error("no such city");
/// assert_eq!(error["isError"], true);
/// assert_eq!(error["content"][0]["text"], "no such city");
/// ```
#[must_use]
pub fn tool_error(text: impl Into<String>) -> Map<String, Value> {
    let text: String = text.into();
    let mut result = Map::new();
    result.insert("content".to_owned(), json!([{ "type": "text", "text": text }]));
    result.insert("isError".to_owned(), true.into());
    result
}
