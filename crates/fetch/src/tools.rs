//! Tools whose schemas refer to other documents, bundled in the background.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout_at;
use toolbond_contract::bundle::{Missing, missing};
use toolbond_contract::{Finding, Severity, rules::EXTERNAL_REF};

use crate::client::Attempt;
use crate::error::{DocumentErrorKind, FetchError};
use crate::fetcher::{Fetcher, UnbundledTool};
use crate::lock::LockError;
use crate::mutex::lock;
use crate::policy::Policy;

/// How long a tool list waits for documents that are being fetched, from the start of the first request.
const WAIT: Duration = Duration::from_secs(1);

/// After how long documents that could not be fetched are tried again, and after how long a list that waited in vain
/// lets another one wait.
const RETRY: Duration = Duration::from_secs(60);

/// The most bytes of tools that are remembered.
const MAX_BYTES: u64 = 8 << 20;

/// The most bytes of all bundled tools of a list.
pub const MAX_LIST_BYTES: usize = 8 << 20;

/// The most bytes of tools that are being bundled at the same time.
const MAX_PENDING: usize = 32 << 20;

/// Tools whose schemas refer to other documents, bundled in the background.
///
/// [`get`](Self::get) never waits. A list of tools asks for each of its tools, waits with [`wait_a_little`], and asks
/// again; a tool that is still [pending](Bundle::Pending) is left out of the list.
pub struct ToolBundles {
    policy: Policy,
    fetcher: Fetcher,
    on_lock_error: Box<dyn Fn(&LockError) + Send + Sync>,
    tools: Mutex<Cache<String, Bundle, TextWeight>>,
    /// The bytes of the tools that are being bundled.
    pending: AtomicUsize,
    waited_in_vain: Arc<Mutex<Option<Instant>>>,
    /// Where tasks are sent to run.
    tasks: OnceLock<mpsc::UnboundedSender<BoxFuture<'static, ()>>>,
}

/// A tool that is being bundled. One that is dropped, because its task panicked or there is no thread to run it, has
/// failed.
struct Task {
    bundles: Arc<ToolBundles>,
    /// The text of the tool.
    text: String,
    tell: watch::Sender<Option<bool>>,
}

impl Task {
    fn finish(self, bundle: Bundle) {
        let is_ready = matches!(bundle, Bundle::Ready(..));
        lock(&self.bundles.tools).insert(self.text.clone(), bundle);
        self.tell.send_replace(Some(is_ready));
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.bundles.pending.fetch_sub(self.text.len(), Ordering::Relaxed);
        if self.tell.borrow().is_none() {
            let error = UnbundledTool { member: "inputSchema", error: FetchError::Panicked };
            let failed = Bundle::Failed(Arc::new(error), Instant::now());
            lock(&self.bundles.tools).insert(self.text.clone(), failed);
            self.tell.send_replace(Some(false));
        }
    }
}

/// What has become of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Bundle {
    /// The tool with its schemas bundled, and the bytes of its text.
    Ready(Arc<Value>, usize),
    /// Why there is none, and since when.
    Failed(Arc<UnbundledTool>, Instant),
    /// Its documents are being fetched.
    Pending(PendingBundle),
}

impl Bundle {
    /// The bytes of the bundled tool.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Ready(_, bytes) => *bytes,
            _ => 0,
        }
    }

    /// Adds its bytes to `used`, those of a list so far. Returns a failure if the tools of the list are too large with
    /// their documents.
    #[must_use]
    pub fn within_list(self, used: &mut usize) -> Self {
        *used = used.saturating_add(self.bytes());
        if *used <= MAX_LIST_BYTES {
            return self;
        }
        let error = FetchError::TooLarge { limit: MAX_LIST_BYTES };
        let error = UnbundledTool { member: "inputSchema", error };
        Self::Failed(Arc::new(error), Instant::now())
    }

    /// Whether [`ToolBundles::get`] will return something else later.
    #[must_use]
    pub fn may_change(&self) -> bool {
        !matches!(self, Self::Ready(..))
    }
}

/// Says in the findings about a tool why its documents are not there. `value` is the tool, and `allow` words the hint to
/// allow a prefix or an address.
pub fn explain(
    findings: &mut [Finding],
    value: &Value,
    bundle: Option<&Bundle>,
    allow: impl Fn(&str) -> String,
) {
    for finding in findings.iter_mut().filter(|finding| finding.rule == EXTERNAL_REF.id) {
        match bundle {
            Some(Bundle::Failed(error, _)) => {
                finding.message = error.error.without_place();
                let to_allow = error.error.to_allow().map(|it| allow(&it));
                finding.hint = to_allow.or_else(|| error.error.hint());
            }
            Some(Bundle::Pending(_)) => {
                finding.severity = Severity::Warning;
                finding.message = String::from("refers to documents that are still being fetched");
                finding.hint = Some("list the tools again".to_owned());
            }
            None => {
                let uri = outside_references(value).into_iter().next().map(|it| it.uri);
                let prefix = uri.and_then(|uri| DocumentErrorKind::NotAllowed.to_allow(&uri));
                finding.hint = prefix.map(|it| allow(&it)).or(finding.hint.take());
            }
            Some(Bundle::Ready(..)) => {}
        }
    }
}

/// A tool whose documents are being fetched.
#[derive(Clone, Debug)]
pub struct PendingBundle {
    since: Instant,
    /// When a list last waited in vain for any tool of the same server.
    waited_in_vain: Arc<Mutex<Option<Instant>>>,
    /// Whether it was bundled, once that is known.
    done: watch::Receiver<Option<bool>>,
}

impl PendingBundle {
    /// Waits until the tool is bundled, and says whether it was.
    pub async fn finish(mut self) -> bool {
        let done = self.done.wait_for(Option::is_some).await;
        done.is_ok_and(|done| *done == Some(true))
    }
}

/// The documents that the schemas of `tool` refer to. A schema that cannot be read is judged as it is.
fn outside_references(tool: &Value) -> Vec<Missing> {
    let schemas = ["inputSchema", "outputSchema"].into_iter().filter_map(|name| tool.get(name));
    let schemas = schemas.filter(|schema| schema.is_object());
    schemas.flat_map(|schema| missing(schema, None, &[]).unwrap_or_default()).collect()
}

/// Waits for tools that are being bundled, at most a second after their first request, and not at all if that was in vain
/// within the last minute.
pub async fn wait_a_little(pending: &[PendingBundle]) {
    let Some(first) = pending.first() else { return };
    let in_vain = *lock(&first.waited_in_vain);
    if in_vain.is_some_and(|at| at.elapsed() < RETRY) {
        return;
    }
    for bundle in pending {
        let end = bundle.since + WAIT;
        if timeout_at(end.into(), bundle.clone().finish()).await.is_err() {
            *lock(&first.waited_in_vain) = Some(Instant::now());
        }
    }
}

/// Weighs a tool by its text, and by what was added to it.
#[derive(Clone, Debug)]
struct TextWeight;

impl Weighter<String, Bundle> for TextWeight {
    fn weight(&self, text: &String, bundle: &Bundle) -> u64 {
        let added = match bundle {
            Bundle::Ready(_, bytes) => *bytes,
            _ => 1024,
        };
        (text.len() + added) as u64
    }
}

impl std::fmt::Debug for ToolBundles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolBundles").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl ToolBundles {
    /// Bundles under `policy`. Each request is reported to `on_attempt`, and a lock file that cannot be written to
    /// `on_lock_error`.
    ///
    /// Fails if the lock file cannot be read.
    pub fn new(
        policy: Policy,
        on_attempt: impl Fn(&Attempt) + Send + Sync + 'static,
        on_lock_error: impl Fn(&LockError) + Send + Sync + 'static,
    ) -> Result<Self, LockError> {
        Ok(Self {
            fetcher: Fetcher::observed(policy.clone(), on_attempt)?,
            policy,
            on_lock_error: Box::new(on_lock_error),
            tools: Mutex::new(Cache::with_weighter(64, MAX_BYTES, TextWeight)),
            pending: AtomicUsize::new(0),
            waited_in_vain: Arc::default(),
            tasks: OnceLock::new(),
        })
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns what has become of `tool`, whose text is `text`; `None` if it refers to nothing outside itself.
    #[must_use]
    pub fn get(self: &Arc<Self>, text: &str, tool: &Value) -> Option<Bundle> {
        if outside_references(tool).is_empty() {
            return None;
        }
        let mut tools = lock(&self.tools);
        match tools.get(text) {
            Some(Bundle::Failed(_, since)) if since.elapsed() >= RETRY => {}
            Some(known) => return Some(known.clone()),
            None => {}
        }
        if self.pending.fetch_add(text.len(), Ordering::Relaxed) > MAX_PENDING {
            self.pending.fetch_sub(text.len(), Ordering::Relaxed);
            let error = UnbundledTool { member: "inputSchema", error: FetchError::Busy };
            return Some(Bundle::Failed(Arc::new(error), Instant::now()));
        }
        let (tell, done) = watch::channel(None);
        let waited_in_vain = Arc::clone(&self.waited_in_vain);
        let pending = PendingBundle { since: Instant::now(), waited_in_vain, done };
        let pending = Bundle::Pending(pending);
        tools.insert(text.to_owned(), pending.clone());
        // A task that is dropped at once locks them.
        drop(tools);
        let task = Task { bundles: Arc::clone(self), text: text.to_owned(), tell };
        let tool = tool.clone();
        self.spawn(Box::pin(async move {
            let bundles = &task.bundles;
            let bundle = match bundles.fetcher.bundle_tool(&tool).await {
                Ok(new) => {
                    let new = new.unwrap_or(tool);
                    let bytes = new.to_string().len();
                    // One that is larger than a list may be would not be remembered, and fetched again each time.
                    Bundle::Ready(Arc::new(new), bytes).within_list(&mut 0)
                }
                Err(error) => Bundle::Failed(Arc::new(error), Instant::now()),
            };
            if let Err(error) = bundles.fetcher.save_lock() {
                (bundles.on_lock_error)(&error);
            }
            task.finish(bundle);
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
            // Without a thread, tasks are dropped.
            let _ = thread::Builder::new().name("fetch".to_owned()).spawn(run);
            tasks
        });
        let _ = tasks.send(task);
    }
}
