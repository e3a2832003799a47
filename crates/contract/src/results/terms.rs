//! How results are judged.

use serde_json::{Map, Value};

use crate::{Mode, Revision};

/// How the result of a call is judged. A [`Mode`] is enough where nothing may be deleted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResultTerms {
    /// What becomes of an invalid result.
    pub mode: Mode,
    /// Whether a repair may leave out a `null`. That is for a client that would refuse the result with it.
    pub deletes: bool,
    /// Which results are not judged, because the final one is still to come.
    pub interim: Interim,
}

impl From<Mode> for ResultTerms {
    fn from(mode: Mode) -> Self {
        Self { mode, deletes: false, interim: Interim::Any }
    }
}

impl ResultTerms {
    /// These terms, where a repair may leave out a `null` or not.
    #[must_use]
    pub const fn deletes(mut self, yes: bool) -> Self {
        self.deletes = yes;
        self
    }

    /// These terms, where the results that `interim` says are not judged.
    #[must_use]
    pub const fn interim(mut self, interim: Interim) -> Self {
        self.interim = interim;
        self
    }
}

/// Which results without structured content stand for a final one that is still to come. A client takes all others for
/// final ones, whatever they say about themselves.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{Contract, Mode, Outcome, ResultTerms, Revision, results::Interim};
///
/// let contract = Contract::received(json!({
///     "name": "get_count",
///     "inputSchema": { "type": "object" },
///     "outputSchema": { "type": "integer" }
/// }))?;
/// let result = json!({ "resultType": "input_required", "requestState": "s", "content": [] });
/// let outcome = |revision| {
///     let terms = ResultTerms::from(Mode::Enforce).interim(Interim::known_to(&revision));
///     contract.judge_result(&result, terms).outcome
/// };
/// assert_eq!(outcome(Revision::V2026_07_28), Outcome::NotJudged);
/// assert_eq!(outcome(Revision::V2025_11_25), Outcome::Invalid);
/// # Ok::<(), toolbond_contract::ContractError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interim {
    /// Those of any revision.
    #[default]
    Any,
    /// Those of 2026-07-28: `resultType` is `input_required` or `task`, and the result has what such a result needs.
    Typed,
    /// Those of 2025-11-25, which has no `resultType`: there is a `task` and no content.
    Task,
    /// None.
    None,
}

impl Interim {
    /// Returns what a client of `revision` knows.
    #[must_use]
    pub fn known_to(revision: &Revision) -> Self {
        if revision.is_natural() {
            Self::Typed
        } else if *revision >= Revision::V2025_11_25 {
            Self::Task
        } else {
            Self::None
        }
    }

    /// Whether the final result is still to come. A result with structured content is final, whatever else it says.
    pub(crate) fn includes(self, result: &Map<String, Value>) -> bool {
        if result.contains_key("structuredContent") {
            return false;
        }
        let kind = result.get("resultType");
        let is_task =
            !result.contains_key("content") && result.get("task").is_some_and(Value::is_object);
        match self {
            Self::Any => match kind.and_then(Value::as_str) {
                Some(kind) => matches!(kind, "input_required" | "task"),
                None => is_task,
            },
            Self::Typed => match kind.and_then(Value::as_str) {
                Some("input_required") => {
                    result.get("inputRequests").is_some_and(Value::is_object)
                        || result.get("requestState").is_some_and(Value::is_string)
                }
                // Some clients take a number for an id, too.
                Some("task") => {
                    result.get("taskId").is_some_and(|id| id.is_string() || id.is_number())
                }
                _ => false,
            },
            Self::Task => is_task,
            Self::None => false,
        }
    }
}
