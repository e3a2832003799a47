//! Judging what takes longer than the next message can wait for.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use toolpact_contract::{Revision, tool_error};

use crate::Inspector;
use crate::catalog::Known;
use crate::inspector::{Later, Pace, complete};

/// A bounded number of threads at a time: some for what takes its time, some for what takes all the
/// fuel there is, which nothing else has to wait for.
#[derive(Debug)]
pub(crate) struct Workers {
    steady: Semaphore,
    full: Semaphore,
}

impl Default for Workers {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        // More than cores: a costly judgement takes its turns beside the cheap ones.
        Self { steady: Semaphore::new((4 * cores).max(8)), full: Semaphore::new(cores.max(2)) }
    }
}

impl Workers {
    /// Runs what may take long where it does not hold up messages.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let _permit = self.steady.acquire().await.ok()?;
        spawn_blocking(work).await.ok()
    }

    /// Judges at a steady pace and, where that is not enough, on a thread that gives way to all others.
    pub(crate) async fn judge<T: Send + 'static>(
        &self,
        judge: impl Fn(Pace) -> Result<T, Later> + Send + Sync + 'static,
    ) -> Option<T> {
        let judge = Arc::new(judge);
        let steady = Arc::clone(&judge);
        if let Ok(judged) = self.work(move || steady(Pace::Steady)).await? {
            return Some(judged);
        }
        let _permit = self.full.acquire().await.ok()?;
        let judge = move || judge(Pace::Full);
        let judged = match patient() {
            Some(threads) => threads.spawn_blocking(judge).await,
            None => spawn_blocking(judge).await,
        };
        judged.ok()?.ok()
    }
}

impl Inspector {
    /// The tool error to answer a call with, where its arguments are not let through, however long
    /// that takes to tell.
    pub(crate) async fn arguments_later(
        self: &Arc<Self>,
        known: &Known,
        arguments: Option<&str>,
        revision: &Revision,
    ) -> Option<String> {
        let (inspector, known) = (Arc::clone(self), known.clone());
        let (arguments, same) = (arguments.map(str::to_owned), revision.clone());
        let judge = move |pace| inspector.arguments(&known, arguments.as_deref(), &same, pace);
        let failed = || Some(complete(tool_error("the arguments could not be judged"), revision));
        self.ward.workers.judge(judge).await.unwrap_or_else(failed)
    }
}

/// Threads that give way to all others. They are no others' threads: a priority that was given up
/// does not come back.
fn patient() -> Option<&'static Runtime> {
    static PATIENT: OnceLock<Option<Runtime>> = OnceLock::new();
    let threads = || {
        Builder::new_current_thread().thread_name("patient").on_thread_start(give_way).build().ok()
    };
    PATIENT.get_or_init(threads).as_ref()
}

/// Lowers the priority of this thread, where a thread has one.
fn give_way() {
    #[cfg(target_os = "linux")]
    // Without it a thread is as good as all others.
    let _ = rustix::process::setpriority_process(None, 10);
}
