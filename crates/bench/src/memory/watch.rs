//! The most memory that a guard ever had.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use toolbond_harness::proc::status;
use toolbond_harness::process::Process;

/// How often it is looked at: a guard that grows by two gigabytes a second is ended in time.
const PAUSE: Duration = Duration::from_millis(5);

/// A guard is ended after so long, whoever still waits for it.
const LIMIT: Duration = Duration::from_secs(40);

/// What a guard took at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    pub(super) mebibytes: u64,
    /// It took more than it was allowed to, and was ended.
    pub(super) is_too_much: bool,
}

/// Watches a guard from a thread of its own.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Peak>,
}

impl Watch {
    /// Ends `guard` where it takes more than `ceiling` MiB or runs for too long, or when the watch is over.
    pub(super) fn start(guard: Process, ceiling: u64) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let thread = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                let (started, mut peak) = (Instant::now(), Peak::default());
                while !is_over.load(Relaxed) && !peak.is_too_much && started.elapsed() < LIMIT {
                    thread::sleep(PAUSE);
                    let kibibytes = status(guard.id(), "VmHWM").unwrap_or_default();
                    peak.mebibytes = peak.mebibytes.max(kibibytes >> 10);
                    peak.is_too_much = peak.mebibytes > ceiling;
                }
                is_over.store(true, Relaxed);
                drop(guard);
                peak
            }
        });
        Self { is_over, thread }
    }

    /// Whether the guard was ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Ends the guard.
    pub(super) fn finish(self) -> anyhow::Result<Peak> {
        self.is_over.store(true, Relaxed);
        self.thread.join().ok().context("the watch panicked")
    }
}
