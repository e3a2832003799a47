//! The most memory that a process ever had.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use toolbond_harness::proc::status;

/// How often it is looked at: a guard that grows by two gigabytes a second is ended in time.
const PAUSE: Duration = Duration::from_millis(5);

/// A guard is ended after so long, whoever still waits for it.
const LIMIT: Duration = Duration::from_secs(40);

/// What a process took at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    kibibytes: u64,
    /// It took more than it was allowed to, and was ended.
    pub(super) was_ended: bool,
}

impl Peak {
    pub(super) const fn mebibytes(self) -> u64 {
        self.kibibytes >> 10
    }
}

/// Watches a process from a thread of its own.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    is_ended: Arc<AtomicBool>,
    thread: JoinHandle<Peak>,
}

impl Watch {
    /// Watches the process `id` and drops `process`, which ends it, where it takes more than `ceiling`
    /// MiB or runs for too long, or when the watch is over.
    pub(super) fn start<T: Send + 'static>(id: u32, process: T, ceiling: u64) -> Self {
        let (is_over, is_ended) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let thread = thread::spawn({
            let (is_over, is_ended) = (Arc::clone(&is_over), Arc::clone(&is_ended));
            move || watch(id, process, ceiling, &is_over, &is_ended)
        });
        Self { is_over, is_ended, thread }
    }

    /// Whether the process was ended.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Relaxed)
    }

    /// Ends the process.
    pub(super) fn finish(self) -> anyhow::Result<Peak> {
        self.is_over.store(true, Relaxed);
        self.thread.join().ok().context("the watch panicked")
    }
}

fn watch<T>(
    id: u32,
    process: T,
    ceiling: u64,
    is_over: &AtomicBool,
    is_ended: &AtomicBool,
) -> Peak {
    let started = Instant::now();
    let mut peak = Peak::default();
    loop {
        let was_over = is_over.load(Relaxed) || started.elapsed() > LIMIT;
        if let Some(now) = status(id, "VmHWM") {
            peak.kibibytes = peak.kibibytes.max(now);
        }
        if peak.mebibytes() > ceiling {
            peak.was_ended = true;
        }
        if was_over || peak.was_ended {
            is_ended.store(true, Relaxed);
            drop(process);
            return peak;
        }
        thread::sleep(PAUSE);
    }
}
