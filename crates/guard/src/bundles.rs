//! Tools whose schemas refer to other documents, bundled in the background.

use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout_at;
use toolpact_contract::bundle::{Missing, missing};
use toolpact_fetch::{Fetcher, LockError, Policy, ToolError};

use crate::event::{Event, Listener};
use crate::lock::lock;

/// How long a tool list waits for documents that are being fetched, from the start of the first request.
const WAIT: Duration = Duration::from_secs(1);

/// After how long documents that could not be fetched are tried again.
const RETRY: Duration = Duration::from_secs(60);

/// The most bytes of tools that are remembered.
const MAX_BYTES: u64 = 32 << 20;

/// Tools whose schemas refer to other documents.
pub(crate) struct Bundles {
    policy: Policy,
    fetcher: Fetcher,
    listener: Arc<dyn Listener>,
    tools: Mutex<Cache<String, Bundle, TextWeight>>,
    /// Where tasks are sent to run.
    tasks: OnceLock<mpsc::UnboundedSender<BoxFuture<'static, ()>>>,
}

/// What has become of a tool.
#[derive(Clone, Debug)]
pub(crate) enum Bundle {
    /// The tool with its schemas bundled.
    Ready(Arc<Value>),
    /// Why there is none, and since when.
    Failed(Arc<ToolError>, Instant),
    /// Its documents are being fetched.
    Pending(PendingBundle),
}

/// A tool whose documents are being fetched.
#[derive(Clone, Debug)]
pub(crate) struct PendingBundle {
    since: Instant,
    /// Whether it was bundled, once that is known.
    done: watch::Receiver<Option<bool>>,
}

impl PendingBundle {
    /// Waits until the tool is bundled, and says whether it was.
    pub(crate) async fn finish(mut self) -> bool {
        let done = self.done.wait_for(Option::is_some).await;
        done.is_ok_and(|done| *done == Some(true))
    }
}

/// The documents that the schemas of `tool` refer to. A schema that cannot be read is judged as it is.
pub(crate) fn outside_references(tool: &Value) -> Vec<Missing> {
    let schemas = ["inputSchema", "outputSchema"].into_iter().filter_map(|name| tool.get(name));
    let schemas = schemas.filter(|schema| schema.is_object());
    schemas.flat_map(|schema| missing(schema, None, &[]).unwrap_or_default()).collect()
}

/// Waits for tools that are being bundled, but not for long. Says whether any of them is done.
pub(crate) async fn wait_a_little(pending: &[PendingBundle]) -> bool {
    let mut is_any_done = false;
    for bundle in pending {
        let end = bundle.since + WAIT;
        is_any_done |= timeout_at(end.into(), bundle.clone().finish()).await.is_ok();
    }
    is_any_done
}

/// Weighs a tool by its text, and by what was added to it.
#[derive(Clone, Debug)]
struct TextWeight;

impl Weighter<String, Bundle> for TextWeight {
    fn weight(&self, text: &String, bundle: &Bundle) -> u64 {
        let added = match bundle {
            // A rough measure is enough for a bound.
            Bundle::Ready(tool) => tool.to_string().len(),
            _ => 1024,
        };
        (text.len() + added) as u64
    }
}

impl std::fmt::Debug for Bundles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bundles").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Bundles {
    /// Bundles under `policy`. Each request is an event for `listener`.
    pub(crate) fn new(policy: Policy, listener: Arc<dyn Listener>) -> Result<Self, LockError> {
        let log = Arc::clone(&listener);
        let fetcher = Fetcher::observed(policy.clone(), move |attempt| {
            let text = attempt.to_string();
            let is_error = attempt.error.is_some();
            log.on_event(if is_error { Event::warning(text) } else { Event::info(text) });
        })?;
        let tools = Mutex::new(Cache::with_weighter(64, MAX_BYTES, TextWeight));
        Ok(Self { policy, fetcher, listener, tools, tasks: OnceLock::new() })
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what has become of `tool`, whose text is `text`; `None` if it refers to nothing outside itself.
    pub(crate) fn get(self: &Arc<Self>, text: &str, tool: &Value) -> Option<Bundle> {
        if outside_references(tool).is_empty() {
            return None;
        }
        let mut tools = lock(&self.tools);
        match tools.get(text) {
            Some(Bundle::Failed(_, since)) if since.elapsed() >= RETRY => {}
            Some(known) => return Some(known.clone()),
            None => {}
        }
        let (tell, done) = watch::channel(None);
        let pending = Bundle::Pending(PendingBundle { since: Instant::now(), done });
        tools.insert(text.to_owned(), pending.clone());
        let (bundles, text, tool) = (Arc::clone(self), text.to_owned(), tool.clone());
        self.spawn(Box::pin(async move {
            let bundle = match bundles.fetcher.bundle_tool(&tool).await {
                Ok(new) => Bundle::Ready(Arc::new(new.unwrap_or(tool))),
                Err(error) => Bundle::Failed(Arc::new(error), Instant::now()),
            };
            if let Err(error) = bundles.fetcher.save_lock() {
                bundles.listener.on_event(Event::error(error.to_string()));
            }
            let is_ready = matches!(bundle, Bundle::Ready(_));
            lock(&bundles.tools).insert(text, bundle);
            let _ = tell.send(Some(is_ready));
        }));
        Some(pending)
    }

    /// Runs `task` on a thread of its own, which ends with these bundles: fetching never holds up messages.
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        let tasks = self.tasks.get_or_init(|| {
            let (tasks, mut inbox) = mpsc::unbounded_channel();
            let run = move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let Ok(runtime) = runtime else { return };
                runtime.block_on(async move {
                    while let Some(task) = inbox.recv().await {
                        tokio::spawn(task);
                    }
                });
                // A look-up that hangs cannot be stopped.
                runtime.shutdown_background();
            };
            // Without a thread, the task is dropped and nobody waits for it.
            let _ = thread::Builder::new().name("fetch".to_owned()).spawn(run);
            tasks
        });
        let _ = tasks.send(task);
    }
}
