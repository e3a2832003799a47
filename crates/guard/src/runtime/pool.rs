//! Worker threads for what takes too long for the I/O thread.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};
use toolbond_fetch::wait_a_little;

use crate::environment::pending;
use crate::memory::MemoryLimit;
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::contract::budget::{Budget, OutOfBudget};
use toolbond_guard_core::conversation::{Job, JobId, JobOutcome};
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::INLINE_BYTES;

/// A bounded number of worker threads for one server.
///
/// A job starts on a worker that it shares with other jobs. One that needs more than some
/// milliseconds goes on at low priority, so that nothing else waits for it. The permit of a job
/// belongs to the thread that runs it, and a job that nobody waits for stops.
///
/// Large messages have permits of their own, and threads of low priority: small ones never wait for them.
#[derive(Debug)]
pub(crate) struct JobPool {
    workers: Arc<Semaphore>,
    /// For large messages: to read them, and to check them.
    reading: Arc<Semaphore>,
    large: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    memory: Arc<MemoryLimit>,
}

/// Messages of more bytes than this are large.
const LARGE: usize = 256 << 10;

const PANICKED: &str = "the check failed";
const NO_MEMORY: &str = "the guard has no memory left for it; try again later";

impl JobPool {
    pub(crate) fn new(memory: Arc<MemoryLimit>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let few = || Arc::new(Semaphore::new(cores.max(2)));
        // More workers than cores: a costly job takes turns with cheap ones.
        let workers = Arc::new(Semaphore::new((4 * cores).max(8)));
        Self { workers, reading: few(), large: few(), slow: few(), memory }
    }

    /// The memory limit that jobs share with messages.
    pub(crate) fn memory(&self) -> &Arc<MemoryLimit> {
        &self.memory
    }

    /// Runs `work` on a message of so many bytes: on a worker where they are many. `None` where it panics there.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if bytes <= INLINE_BYTES {
            return Some(work());
        }
        let is_large = bytes > LARGE;
        let lane = if is_large { &self.reading } else { &self.workers };
        let permit = Arc::clone(lane).acquire_owned().await.ok()?;
        let work = move || {
            let _permit = permit;
            work()
        };
        spawn(is_large, work).await.ok()
    }

    /// The pieces of a message in one, which is copied on a worker where they are many bytes. `None` where that panics.
    pub(crate) async fn join(&self, mut pieces: Pieces) -> Option<Counted> {
        if pieces.len() == 1 {
            return pieces.pop();
        }
        let (length, memory) = (pieces.length(), Arc::clone(&self.memory));
        let copy = self.memory.reserve_copy(length).await;
        let join = move || {
            let _copy = copy;
            pieces.into_one(&memory)
        };
        self.run(length, join).await
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
        let (length, cap) = (job.text_len(), self.memory.parsed_limit());
        let Some((bytes, job)) = self.run(length, move || (job.memory(cap), job)).await else {
            return Some(JobOutcome::Failed(PANICKED));
        };
        let is_large = length > LARGE || !self.memory.is_small_when_parsed(bytes);
        let lane = if is_large { &self.large } else { &self.workers };
        // Of large jobs, only those whose turn it is wait for memory. A small one holds no worker meanwhile.
        let turn = if is_large { Some(Arc::clone(lane).acquire_owned().await.ok()?) } else { None };
        if job.is_abandoned() {
            return None;
        }
        let Ok(memory) = self.memory.reserve_parsed(bytes).await else {
            return Some(JobOutcome::Failed(NO_MEMORY));
        };
        let permit = match turn {
            Some(turn) => turn,
            None => Arc::clone(lane).acquire_owned().await.ok()?,
        };
        if job.is_abandoned() {
            return None;
        }
        let first = Budget::first(cap.min(bytes.max(1 << 20)));
        let run = move || (attempt(&job, first, permit), job);
        let Ok((tried, job)) = spawn(is_large, run).await else {
            return Some(JobOutcome::Failed(PANICKED));
        };
        let outcome = match tried {
            Ok(outcome) if !outcome.pending().is_empty() => {
                wait_a_little(&pending(outcome.pending())).await;
                job.stop_waiting();
                let permit = Arc::clone(lane).acquire_owned().await.ok()?;
                if job.is_abandoned() {
                    return None;
                }
                let again = spawn(is_large, move || attempt(&job, first, permit)).await;
                again.map_or(Some(JobOutcome::Failed(PANICKED)), Result::ok)
            }
            Ok(outcome) => Some(outcome),
            Err(OutOfBudget) => {
                let permit = Arc::clone(&self.slow).acquire_owned().await.ok()?;
                let run = move || {
                    let _permit = permit;
                    run_slowly(&job, first)
                };
                spawn(true, run).await.unwrap_or(Some(JobOutcome::Failed(PANICKED)))
            }
        };
        drop(memory);
        outcome
    }
}

/// Runs `work` on a thread of low or of ordinary priority.
fn spawn<T: Send + 'static>(
    at_low_priority: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    match low_priority().filter(|_| at_low_priority) {
        Some(threads) => threads.spawn_blocking(work),
        None => spawn_blocking(work),
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

#[cfg(test)]
mod tests {
    use crate::testing::text;
    use std::sync::{Arc, mpsc};

    use tokio::sync::oneshot;
    use toolbond_contract::Revision;

    use super::{INLINE_BYTES, JobPool, LARGE};
    use crate::memory::MemoryLimit;
    use crate::runtime::drive::now;
    use crate::server::GuardedServer;
    use toolbond_guard_core::contract::catalog::Tool;
    use toolbond_guard_core::contract::list::PageOutcome;
    use toolbond_guard_core::conversation::{
        Action, Conversation, JobId, JobOutcome, Link, Origin, StreamId, Told,
    };
    use toolbond_guard_core::event::Event;
    use toolbond_guard_core::message::Message;
    use toolbond_guard_core::settings::Settings;

    /// Checks a list with a description of so many bytes.
    fn check_list(pool: &Arc<JobPool>, bytes: usize) -> oneshot::Receiver<(JobId, JobOutcome)> {
        let long = "x".repeat(bytes);
        check_tools(
            pool,
            &format!(r#"{{"name":"a","description":"{long}","inputSchema":{{"type":"object"}}}}"#),
        )
    }

    /// Checks a list of `tools`.
    fn check_tools(pool: &Arc<JobPool>, tools: &str) -> oneshot::Receiver<(JobId, JobOutcome)> {
        let server = GuardedServer::new("a", Settings::default(), Arc::new(|_: Event| ()));
        let mut conversation =
            Conversation::new(Arc::clone(server.shared()), Link::Pipe, Revision::default());
        let list = text(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let list = Message::read(&list).unwrap();
        conversation.on_client(StreamId::PIPE, &list, &Told::default(), now());
        let tools = text(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tools}]}}}}"#));
        conversation.on_server(Origin::Pipe, &Message::read(&tools).unwrap(), now());
        let (sender, receiver) = oneshot::channel();
        while let Some(action) = conversation.poll() {
            if let Action::Judge(job) = action {
                pool.spawn(job, |id, outcome| drop(sender.send((id, outcome))));
                return receiver;
            }
        }
        panic!("no job");
    }

    #[tokio::test]
    async fn small_messages_do_not_wait_until_large_ones_are_read() {
        let pool = Arc::new(JobPool::new(Arc::default()));
        let (ends, large): (Vec<_>, Vec<_>) = (0..32)
            .map(|_| {
                let (end, ended) = mpsc::channel::<()>();
                let pool = Arc::clone(&pool);
                let read = async move { pool.run(LARGE + 1, move || ended.recv().is_err()).await };
                (end, tokio::spawn(read))
            })
            .unzip();
        tokio::task::yield_now().await;
        assert_eq!(pool.run(INLINE_BYTES + 1, || 1).await, Some(1));
        assert_eq!(pool.run(LARGE, || 2).await, Some(2));
        drop(ends);
        for read in large {
            assert_eq!(read.await.unwrap(), Some(true));
        }
    }

    #[tokio::test]
    async fn small_jobs_wait_for_neither_the_turn_nor_the_memory_of_large_ones() {
        let memory = Arc::new(MemoryLimit::new(64 << 20));
        let pool = Arc::new(JobPool::new(Arc::clone(&memory)));
        let all = memory.reserve_parsed(memory.parsed_limit()).await.unwrap();
        // Large ones wait for memory, and others for their turn.
        let large: Vec<_> = (0..32).map(|_| check_list(&pool, 2 << 20)).collect();
        for bytes in [10, INLINE_BYTES + 1] {
            let (_, outcome) = check_list(&pool, bytes).await.unwrap();
            assert!(matches!(outcome, JobOutcome::Page(_)), "{outcome:?}");
        }
        drop(all);
        for checked in large {
            assert!(matches!(checked.await.unwrap().1, JobOutcome::Page(_)));
        }
        assert_eq!(memory.used(), [0, 0]);
    }

    #[tokio::test]
    async fn a_tool_whose_value_needs_too_much_memory_is_withheld_alone() {
        let pool = Arc::new(JobPool::new(Arc::new(MemoryLimit::new(8 << 20))));
        let tool = |name: &str, meta: &str| {
            format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"_meta":{{"x":[{meta}0]}}}}"#
            )
        };
        let tools = [tool("large", &"[],".repeat(100_000)), tool("a", ""), tool("b", "[],")];
        let (_, outcome) = check_tools(&pool, &tools.join(",")).await.unwrap();
        let JobOutcome::Page(page) = outcome else { panic!("{outcome:?}") };
        let (_, known) = page.tools.unwrap();
        assert!(
            matches!(&known[0], (name, Tool::Withheld(why)) if name == "large" && why.contains("--max-memory")),
            "{:?}",
            known[0].0
        );
        let offered = |it: &(String, Tool)| matches!(&it.1, Tool::Offered { .. });
        assert_eq!(known.iter().filter(|it| offered(it)).count(), 2);
        assert_eq!(
            page.outcome,
            PageOutcome::Replaced(format!("{{\"tools\":[{}]}}", tools[1..].join(",")))
        );
    }

    #[tokio::test]
    async fn a_list_of_more_tools_than_there_is_memory_for_is_refused() {
        let pool = Arc::new(JobPool::new(Arc::new(MemoryLimit::new(8 << 20))));
        let (_, outcome) = check_tools(&pool, &vec!["0"; 100_000].join(",")).await.unwrap();
        let JobOutcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert!(matches!(&page.outcome, PageOutcome::Refused(why) if why.contains("100000 tools")));
    }
}
