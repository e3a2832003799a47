//! Worker threads for what takes too long for the I/O thread.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use toolbond_fetch::wait_a_little;

use super::memory::{MemoryLimit, NoMemory};
use crate::contract::budget::{Budget, OutOfBudget};
use crate::core::{Job, JobId, JobOutcome};

/// A bounded number of worker threads for one server.
///
/// A job starts on a worker that it shares with other jobs. One that needs more than some
/// milliseconds goes on at low priority, so that nothing else waits for it. The permit of a job
/// belongs to the thread that runs it, and a job that nobody waits for stops.
#[derive(Debug)]
pub(crate) struct JobPool {
    workers: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    memory: Arc<MemoryLimit>,
}

const PANICKED: &str = "the check failed";
const NO_MEMORY: &str = "the guard has no memory left for it; try again later";

impl JobPool {
    pub(crate) fn new(memory: Arc<MemoryLimit>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // More workers than cores: a costly job takes turns with cheap ones.
        let workers = Arc::new(Semaphore::new((4 * cores).max(8)));
        Self { workers, slow: Arc::new(Semaphore::new(cores.max(2))), memory }
    }

    /// The memory limit that jobs share with messages.
    pub(crate) fn memory(&self) -> &Arc<MemoryLimit> {
        &self.memory
    }

    /// Runs `work` on a worker; `None` where it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.workers).acquire_owned().await.ok()?;
        let work = move || {
            let _permit = permit;
            work()
        };
        spawn_blocking(work).await.ok()
    }

    /// Runs `job` and hands its outcome to `done`, unless nobody waits for it any more.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        job: Box<Job>,
        done: impl FnOnce(JobId, JobOutcome) + Send + 'static,
    ) {
        let pool = Arc::clone(self);
        tokio::spawn(async move {
            let id = job.id;
            if let Some(outcome) = pool.execute(job).await {
                done(id, outcome);
            }
        });
    }

    async fn execute(&self, job: Box<Job>) -> Option<JobOutcome> {
        let permit = Arc::clone(&self.workers).acquire_owned().await.ok()?;
        if job.is_abandoned() {
            return None;
        }
        let bytes = job.memory(self.memory.parsed_limit());
        let Ok(memory) = self.memory.reserve_parsed(bytes).await.map_err(|NoMemory| ()) else {
            return Some(JobOutcome::Failed(NO_MEMORY));
        };
        let first = Budget::first(self.memory.parsed_limit().min(bytes.max(1 << 20)));
        let run = move || (attempt(&job, first, permit), job);
        let Ok((tried, job)) = spawn_blocking(run).await else {
            return Some(JobOutcome::Failed(PANICKED));
        };
        let outcome = match tried {
            Ok(outcome) if !outcome.pending().is_empty() => {
                wait_a_little(outcome.pending()).await;
                job.stop_waiting();
                let permit = Arc::clone(&self.workers).acquire_owned().await.ok()?;
                if job.is_abandoned() {
                    return None;
                }
                let run = move || attempt(&job, first, permit);
                let again = spawn_blocking(run).await;
                again.map_or(Some(JobOutcome::Failed(PANICKED)), Result::ok)
            }
            Ok(outcome) => Some(outcome),
            Err(OutOfBudget) => {
                let permit = Arc::clone(&self.slow).acquire_owned().await.ok()?;
                let run = move || {
                    let _permit = permit;
                    run_slowly(&job, first)
                };
                let ran = match low_priority() {
                    Some(threads) => threads.spawn_blocking(run).await,
                    None => spawn_blocking(run).await,
                };
                ran.unwrap_or(Some(JobOutcome::Failed(PANICKED)))
            }
        };
        drop(memory);
        outcome
    }
}

/// Runs one try; the permit is given back with its end.
fn attempt(
    job: &Job,
    budget: Budget,
    _permit: OwnedSemaphorePermit,
) -> Result<JobOutcome, OutOfBudget> {
    job.run(budget)
}

/// Runs all further tries; `None` where nobody waits for the outcome any more.
fn run_slowly(job: &Job, mut budget: Budget) -> Option<JobOutcome> {
    while let Some(next) = budget.next() {
        if job.is_abandoned() {
            return None;
        }
        budget = next;
        if let Ok(outcome) = job.run(budget) {
            return Some(outcome);
        }
    }
    Some(JobOutcome::Failed(PANICKED))
}

/// Threads of low priority. They run nothing else, because a thread cannot raise its priority again.
fn low_priority() -> Option<&'static Runtime> {
    static THREADS: OnceLock<Option<Runtime>> = OnceLock::new();
    let threads = || {
        let mut builder = Builder::new_current_thread();
        builder.thread_name("low-priority").on_thread_start(lower_priority).build().ok()
    };
    THREADS.get_or_init(threads).as_ref()
}

/// Lowers the priority of this thread, where a thread has one.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Without it the thread competes with all others.
    let _ = rustix::process::setpriority_process(None, 10);
}
