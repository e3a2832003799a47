//! What a process holds: memory, threads, open files, and processes that it started.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use toolbond_harness::proc::{self, status};

/// The name of what is counted, and how much is allowed after so much.
type Quantity = (&'static str, fn(u64) -> u64);

/// What is counted of a process, and how much more than after warm-up is no growth. An allocator keeps some pages, a pool
/// some threads and connections. Processes are counted exactly.
pub(super) const QUANTITIES: [Quantity; 4] = [
    ("memory, MiB", |before| before + (before / 4).max(24)),
    ("threads", |before| before + 4),
    ("open files", |before| before + 12),
    ("child processes", |before| before),
];

/// The quantities of one process at one moment.
pub(super) type Census = [u64; 4];

/// Of the process `id`; nothing where it is gone.
pub(super) fn census(id: u32) -> Census {
    let value = |name| status(id, name).unwrap_or_default();
    let files = fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count);
    [value("VmRSS") >> 10, value("Threads"), files as u64, descendants(id).len() as u64]
}

/// A process that another one started: its id, and when it began, which tells it from a later one with
/// the same id.
type Descendant = (u32, u64);

/// The parent and the beginning of a process that runs.
fn running(id: u32) -> Option<(u32, u64)> {
    let fields =
        proc::stat(id).filter(|fields| fields.first().is_some_and(|state| state != "Z"))?;
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// All processes that the process `id` started, and that they started. Ended ones do not count.
pub(super) fn descendants(id: u32) -> Vec<Descendant> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<(u32, (u32, u64))> = ids.filter_map(|id| Some((id, running(id)?))).collect();
    let (mut found, mut open) = (Vec::new(), vec![id]);
    while let Some(parent) = open.pop() {
        for (id, (_, began)) in all.iter().filter(|(_, (of, _))| *of == parent) {
            open.push(*id);
            found.push((*id, *began));
        }
    }
    found
}

/// How many of these still run after a while.
pub(super) fn left(processes: &[Descendant], patience: Duration) -> usize {
    let started = Instant::now();
    loop {
        let runs = |(id, began): &&Descendant| running(*id).is_some_and(|(_, at)| at == *began);
        let count = processes.iter().filter(runs).count();
        if count == 0 || started.elapsed() > patience {
            return count;
        }
        thread::sleep(Duration::from_millis(50));
    }
}
