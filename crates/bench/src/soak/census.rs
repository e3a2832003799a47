//! What a process holds: memory, threads, open files, and processes that it started.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use toolbond_harness::proc::{self, status};

/// What one process holds at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    /// Resident memory in KiB.
    pub(super) memory: u64,
    pub(super) threads: u64,
    pub(super) files: u64,
    /// Processes that it started, and those that they started.
    pub(super) children: u64,
}

impl Census {
    /// Of the process `id`; nothing where it is gone.
    pub(super) fn take(id: u32) -> Self {
        let value = |name| status(id, name).unwrap_or_default();
        let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
        Self {
            memory: value("VmRSS"),
            threads: value("Threads"),
            files: files.try_into().unwrap_or_default(),
            children: descendants(id).len().try_into().unwrap_or_default(),
        }
    }

    /// The larger of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            threads: self.threads.max(other.threads),
            files: self.files.max(other.files),
            children: self.children.max(other.children),
        }
    }
}

/// A process that another one started: its id, and when it began, which tells it from a later one with
/// the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    id: u32,
    began: u64,
}

/// The parent, the state and the beginning of a process.
fn stat(id: u32) -> Option<(u32, char, u64)> {
    let fields = proc::stat(id)?;
    let state = fields.first()?.chars().next()?;
    Some((fields.get(1)?.parse().ok()?, state, fields.get(19)?.parse().ok()?))
}

/// All processes that the process `id` started, and that they started. Ended ones do not count.
pub(super) fn descendants(id: u32) -> Vec<Descendant> {
    let mut children: HashMap<u32, Vec<Descendant>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some((parent, state, began)) = stat(id)
            && state != 'Z'
        {
            children.entry(parent).or_default().push(Descendant { id, began });
        }
    }
    let (mut found, mut open) = (Vec::new(), vec![id]);
    while let Some(id) = open.pop() {
        for child in children.remove(&id).unwrap_or_default() {
            open.push(child.id);
            found.push(child);
        }
    }
    found
}

/// How many of these still run after a while.
pub(super) fn left(processes: &[Descendant], patience: Duration) -> usize {
    let started = Instant::now();
    loop {
        let runs = |one: &&Descendant| {
            stat(one.id).is_some_and(|(_, state, began)| began == one.began && state != 'Z')
        };
        let count = processes.iter().filter(runs).count();
        if count == 0 || started.elapsed() > patience {
            return count;
        }
        thread::sleep(Duration::from_millis(50));
    }
}
