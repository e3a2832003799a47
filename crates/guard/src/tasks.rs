//! Calls that answer with a task, and deliver their result later.
//!
//! In 2025-11-25 a task is in the member `task` of the answer, and `tasks/result` gives the result of
//! the call. In the extension of 2026-07-28 the answer itself is the task (`resultType: "task"`), and
//! the result of the call is in the member `result` of `tasks/get` and of `notifications/tasks`.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolpact_contract::Revision;

use crate::Inspector;
use crate::asked::Asked;
use crate::catalog::Known;
use crate::inspector::lock;
use crate::message::object;

/// The tasks that are remembered; the results of older ones pass unjudged.
const TASKS: usize = 4096;

/// The calls that became tasks, by the hash of the id of the task, which may be of any length.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    calls: HashMap<u64, (Option<Known>, Revision)>,
    order: VecDeque<u64>,
    hasher: RandomState,
}

impl Tasks {
    /// A call of `known`, whose client reads `revision`, became the task `id`.
    pub(crate) fn add(&mut self, id: &str, known: Option<Known>, revision: Revision) {
        let id = self.hasher.hash_one(id);
        if self.calls.insert(id, (known, revision)).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > TASKS
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// The call that became the task `id`, where it is remembered.
    pub(crate) fn of(&self, id: &str) -> Option<(Option<Known>, Revision)> {
        self.calls.get(&self.hasher.hash_one(id)).cloned()
    }
}

impl Inspector {
    /// What a request about a task asks, where its result is one that is looked at.
    pub(crate) fn asks_for_task(&self, method: &str, params: Option<&RawValue>) -> Option<Asked> {
        let (known, revision) = lock(&self.tasks).of(Task::read(params?.get())?.id()?)?;
        Some(match method {
            "tasks/result" => Asked::Call { known, revision },
            _ => Asked::Task { known, revision },
        })
    }
}

/// The id of the task that `result` stands for.
pub(crate) fn created(result: &Value) -> Option<&str> {
    let task = match result.get("resultType").and_then(Value::as_str) {
        Some("task") => result,
        Some(_) => return None,
        None => result.get("task")?,
    };
    task.get("taskId")?.as_str()
}

/// What of a task, or of a request about one, the guard looks at.
#[derive(Deserialize)]
pub(crate) struct Task<'a> {
    #[serde(borrow, default, rename = "taskId")]
    id: Option<std::borrow::Cow<'a, str>>,
    /// The result of the call, where it has come to its end.
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
}

impl<'a> Task<'a> {
    /// Reads `text`; nothing where it says nothing about a task.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        object(text).ok()
    }

    /// Its id.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use toolpact_contract::Revision;

    use super::{TASKS, Tasks};

    #[test]
    fn keeps_a_bounded_number() {
        let mut tasks = Tasks::default();
        for n in 0..2 * TASKS {
            tasks.add(&n.to_string(), None, Revision::default());
            tasks.add(&n.to_string(), None, Revision::default());
        }
        assert_eq!((tasks.calls.len(), tasks.order.len()), (TASKS, TASKS));
        assert!(tasks.of("0").is_none() && tasks.of(&(TASKS + 1).to_string()).is_some());
    }
}
