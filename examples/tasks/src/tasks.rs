//! The tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use toolbond::{Answers, Progress, Reply, ToolError};

use crate::task::{Priority, Repeat, Task};
use crate::user::User;

/// Clones share their tasks.
#[derive(Clone)]
pub struct Tasks {
    all: Arc<Mutex<BTreeMap<u32, Task>>>,
    changed: watch::Sender<()>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { all: Arc::default(), changed: watch::Sender::new(()) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Assignee {
    name: String,
}

#[toolbond::tools(tools_only)]
impl Tasks {
    /// Adds a task.
    #[tool]
    fn add(
        &self,
        #[schemars(length(min = 1, max = 200))] title: String,
        /// Normal by default.
        priority: Option<Priority>,
        /// The day, such as 2026-12-24.
        due: Option<String>,
        repeat: Option<Repeat>,
    ) -> Task {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let id = all.last_key_value().map_or(1, |(last, _)| last + 1);
        let priority = priority.unwrap_or_default();
        let task = Task { id, title, priority, due, repeat, assignee: None, done_by: None };
        all.insert(id, task.clone());
        task
    }

    /// Changes the day of a task.
    #[tool(idempotent)]
    fn reschedule(
        &self,
        id: u32,
        /// `null` for none; what is left out stays.
        due: Option<Option<String>>,
        /// `null` for once; what is left out stays.
        repeat: Option<Option<Repeat>>,
    ) -> Result<Task, ToolError> {
        self.change(id, |task| {
            task.due = due.unwrap_or(task.due.take());
            task.repeat = repeat.unwrap_or(task.repeat.take());
        })
    }

    /// Lists the tasks that are not done.
    #[tool(read_only)]
    pub fn open(&self, priority: Option<Priority>) -> Vec<Task> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let is_listed = |task: &&Task| {
            task.done_by.is_none() && priority.is_none_or(|wanted| wanted == task.priority)
        };
        all.values().filter(is_listed).cloned().collect()
    }

    /// Asks the user who does a task.
    #[tool]
    fn assign(&self, id: u32, answers: Answers) -> Result<Reply<Task>, ToolError> {
        let Some(assignee) = answers.form::<Assignee>("assignee")? else {
            let task = self.change(id, |_| {})?;
            return Reply::ask::<Assignee>("assignee", format!("Who does “{}”?", task.title));
        };
        self.change(id, |task| task.assignee = Some(assignee.name)).map(Reply::Complete)
    }

    /// Marks a task as done.
    #[tool(idempotent)]
    fn finish(&self, id: u32, User(name): User) -> Result<Task, ToolError> {
        let task = self.change(id, |task| task.done_by = Some(name));
        self.changed.send_replace(());
        task
    }

    /// Waits until a task is done.
    #[tool(read_only)]
    async fn wait(&self, id: u32, progress: Progress) -> Result<Task, ToolError> {
        let mut changed = self.changed.subscribe();
        loop {
            let task = self.change(id, |_| {})?;
            if task.done_by.is_some() {
                return Ok(task);
            }
            progress.report_done(0, format!("waiting for {}", task.title)).await;
            changed.changed().await.map_err(|_| ToolError::new("the server is shutting down"))?;
        }
    }
}

impl Tasks {
    fn change(&self, id: u32, change: impl FnOnce(&mut Task)) -> Result<Task, ToolError> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let task = all.get_mut(&id).ok_or_else(|| ToolError::new(format!("no task {id}")))?;
        change(task);
        Ok(task.clone())
    }
}
