//! Calls that became tasks, which deliver their result later.
//!
//! In 2025-11-25 `tasks/result` gives the result of the call. In the extension of 2026-07-28 it is in
//! the member `result` of `tasks/get` and of `notifications/tasks`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use toolbond_contract::Revision;

use super::catalog::Tool;

/// The most tasks that are remembered.
const MAX_TASKS: usize = 4096;

/// A call that became a task: its tool, and the revision that its client reads.
type TaskCall = (Option<Tool>, Revision);

/// The calls that became tasks, by the hash of the id of the task, which may be of any length.
#[derive(Debug, Default)]
pub struct Tasks {
    /// `None` where calls of several tools became tasks of the same id.
    calls: HashMap<u64, Option<TaskCall>>,
    order: VecDeque<u64>,
    hasher: RandomState,
}

impl Tasks {
    /// Remembers that a call of `tool`, whose client reads `revision`, became the task `id`.
    pub fn insert(&mut self, id: &str, tool: Option<Tool>, revision: Revision) {
        let id = self.hasher.hash_one(id);
        match self.calls.entry(id) {
            Entry::Vacant(vacant) => {
                vacant.insert(Some((tool, revision)));
                self.order.push_back(id);
            }
            Entry::Occupied(mut known) => {
                let before = known.get().as_ref();
                let is_known = before.is_some_and(|(it, _)| is_same(it.as_ref(), tool.as_ref()));
                known.insert(is_known.then_some((tool, revision)));
            }
        }
        if self.order.len() > MAX_TASKS
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// The call that became the task `id`, unless that is unknown.
    pub fn get(&self, id: &str) -> Option<TaskCall> {
        self.calls.get(&self.hasher.hash_one(id))?.clone()
    }
}

/// Whether the results of one tool are judged as those of the other.
fn is_same(one: Option<&Tool>, other: Option<&Tool>) -> bool {
    match (one, other) {
        (Some(Tool::Offered { judged, .. }), Some(Tool::Offered { judged: other, .. })) => {
            Arc::ptr_eq(judged, other)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use toolbond_contract::Revision;

    use super::{MAX_TASKS, Tasks};

    #[test]
    fn keeps_a_bounded_number() {
        let mut tasks = Tasks::default();
        for n in 0..2 * MAX_TASKS {
            tasks.insert(&n.to_string(), None, Revision::default());
            tasks.insert(&n.to_string(), None, Revision::default());
        }
        assert_eq!((tasks.calls.len(), tasks.order.len()), (MAX_TASKS, MAX_TASKS));
        assert!(tasks.get("0").is_none() && tasks.get(&(MAX_TASKS + 1).to_string()).is_some());
    }
}
