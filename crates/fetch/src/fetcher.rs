//! Bundling a schema with what it refers to, wherever that is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolbond_contract::arguments::large_integers;
use toolbond_contract::bundle::{self, Document, Missing};
use toolbond_schema::Instance;

use crate::budget::Budget;
use crate::client::{Attempt, Client, Download, Observer, Place};
use crate::digest::digest;
use crate::error::{DocumentError, DocumentErrorKind, FetchError, shorten};
use crate::file;
use crate::folder::Folders;
use crate::lock::{Lock, LockError};
use crate::mutex::lock;
use crate::policy::Policy;
use crate::resolve::{Resolve, SystemResolver};

/// Fetches the documents that schemas refer to.
///
/// Each document is fetched once and then remembered, up to 16 MiB.
///
/// ```
/// use serde_json::json;
/// use toolbond_fetch::{Fetcher, Policy};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let fetcher = Fetcher::new(Policy::default().allow("https://schemas.example.com/")?)?;
/// let schema = json!({ "$ref": "https://elsewhere.example/a.json" });
/// let error = fetcher.bundle(&schema, None).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "#/$ref refers to https://elsewhere.example/a.json, which is not allowed"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fetcher {
    client: Client,
    folders: Arc<Folders>,
    lock: Option<Lock>,
    observer: Option<Arc<Observer>>,
    known: Cache<String, Arc<Known>, Bytes>,
    /// For what takes time on a processor: one schema at a time, so that the others of this machine are left alone.
    work: Arc<Semaphore>,
    /// Documents that took too long, and since when that is known.
    slow: Mutex<HashMap<String, Instant>>,
}

/// The most bytes of documents that are remembered.
const MAX_KNOWN: u64 = 16 << 20;

/// After how long a document that took too long is requested again: many tools may refer to it.
const RETRY: Duration = Duration::from_secs(30);

/// The most documents that are remembered to take too long.
const MAX_SLOW: usize = 1024;

/// A document that was fetched.
struct Known {
    base: String,
    value: Arc<Value>,
    bytes: usize,
}

/// Weighs documents by their bytes.
#[derive(Clone)]
struct Bytes;

impl Weighter<String, Arc<Known>> for Bytes {
    fn weight(&self, uri: &String, document: &Arc<Known>) -> u64 {
        (uri.len() + document.bytes).max(1024) as u64
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("policy", &self.client.policy).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// A fetcher under `policy`.
    ///
    /// Fails if the lock file cannot be read.
    pub fn new(policy: Policy) -> Result<Self, LockError> {
        Self::with(policy, None, None)
    }

    /// A fetcher that reports each request to `observer`.
    pub fn observed(
        policy: Policy,
        observer: impl Fn(&Attempt) + Send + Sync + 'static,
    ) -> Result<Self, LockError> {
        Self::with(policy, None, Some(Arc::new(observer)))
    }

    /// A fetcher with a resolver of its own, which may be told of each request.
    pub fn with(
        policy: Policy,
        resolver: Option<Arc<dyn Resolve>>,
        observer: Option<Arc<Observer>>,
    ) -> Result<Self, LockError> {
        let lock = match &policy.lock {
            Some(path) => {
                let has_to_be_there = policy.offline || policy.locked;
                Some(Lock::open(path, policy.cache.as_deref(), has_to_be_there)?)
            }
            None if policy.offline || policy.locked => return Err(LockError::NoLock),
            None => None,
        };
        let resolver = resolver.unwrap_or_else(|| Arc::new(SystemResolver));
        Ok(Self {
            folders: Arc::new(Folders::new(policy.folders.clone())),
            lock,
            known: Cache::with_weighter(64, MAX_KNOWN, Bytes),
            work: Arc::new(Semaphore::new(1)),
            slow: Mutex::default(),
            client: Client::new(policy, resolver, observer.clone()),
            observer,
        })
    }

    /// Returns `schema` with everything that it refers to. A schema that refers to nothing outside itself is returned as
    /// it is. `base` is what relative references of a schema without `$id` are relative to.
    pub async fn bundle<'a>(
        &self,
        schema: &'a Value,
        base: Option<&str>,
    ) -> Result<Cow<'a, Value>, FetchError> {
        // Most schemas refer to nothing.
        if bundle::missing(schema, base, &[])?.is_empty() {
            return Ok(bundle::bundle(schema, base, &[])?);
        }
        let work = self.collect(schema, base).await?;
        let bundled = self.blocking(work, |work| {
            bundle::bundle(&work.schema, work.base.as_deref(), &work.documents).map(Cow::into_owned)
        });
        Ok(Cow::Owned(bundled.await.1?))
    }

    /// Returns the documents that `schema` refers to, directly or through others, for
    /// [`Options::document`](toolbond_schema::Options::document). That does not know where redirects led, and relative
    /// references depend on it; [`bundle`](Self::bundle) does.
    pub async fn documents(
        &self,
        schema: &Value,
        base: Option<&str>,
    ) -> Result<Vec<Document>, FetchError> {
        Ok(self.collect(schema, base).await?.documents)
    }

    /// Returns a tool whose schemas are bundled, and [flat](bundle::flatten_tool) where they can be; `None` if they refer
    /// to nothing outside themselves.
    pub async fn bundle_tool(&self, tool: &Value) -> Result<Option<Value>, UnbundledTool> {
        let mut bundled = None;
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.get(member).filter(|it| it.is_object()) else { continue };
            let wrong = |error| UnbundledTool { member, error };
            if let Cow::Owned(schema) = self.bundle(schema, None).await.map_err(wrong)? {
                bundled.get_or_insert_with(|| tool.clone())[member] = schema;
            }
        }
        let Some(bundled) = bundled else { return Ok(None) };
        // Clients hand schemas to model APIs, which know no `$id` inside of them.
        let flat = self.blocking(bundled, |tool| bundle::flatten_tool(tool).tool.into_owned());
        Ok(Some(flat.await.1))
    }

    /// Runs `task` on a thread where it may take some time.
    async fn blocking<W: Send + 'static, T: Send + 'static>(
        &self,
        work: W,
        task: impl FnOnce(&W) -> T + Send + 'static,
    ) -> (W, T) {
        // It is never closed.
        let permit = Arc::clone(&self.work).acquire_owned().await;
        let run = move || {
            let _permit = permit;
            let done = task(&work);
            (work, done)
        };
        match spawn_blocking(run).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Writes the lock file, if there is one and it has changed.
    pub fn save_lock(&self) -> Result<(), LockError> {
        self.lock.as_ref().map_or(Ok(()), Lock::save)
    }

    async fn collect(&self, schema: &Value, base: Option<&str>) -> Result<Work, FetchError> {
        let limit = self.client.policy.limits.total_time;
        let work =
            Work { schema: schema.clone(), base: base.map(str::to_owned), documents: Vec::new() };
        timeout(limit, self.complete(work)).await.unwrap_or(Err(FetchError::TotalTime { limit }))
    }

    /// Fetches documents until none is missing.
    async fn complete(&self, mut work: Work) -> Result<Work, FetchError> {
        let limits = &self.client.policy.limits;
        let budget = Budget::new(limits);
        let mut depths: HashMap<String, usize> = HashMap::new();
        loop {
            let found;
            (work, found) = self
                .blocking(work, |work| {
                    bundle::missing(&work.schema, work.base.as_deref(), &work.documents)
                })
                .await;
            let missing = found?;
            if missing.is_empty() {
                return Ok(work);
            }
            for (index, missing) in missing.iter().enumerate() {
                let from = missing.from.as_ref().and_then(|from| depths.get(from));
                let depth = from.map_or(1, |depth| depth + 1);
                if depth > limits.depth {
                    let limit = limits.depth;
                    return Err(failure(missing, DocumentErrorKind::Depth { limit }));
                }
                if work.documents.len() + index >= limits.documents {
                    let limit = limits.documents;
                    return Err(failure(missing, DocumentErrorKind::Documents { limit }));
                }
                depths.insert(missing.uri.clone(), depth);
            }
            let budget = &budget;
            let fetched: Vec<Document> = stream::iter(missing)
                .map(|missing| async move {
                    let known = self.get(&missing.uri, budget).await;
                    let known = known.map_err(|kind| failure(&missing, kind))?;
                    let (uri, base) = (missing.uri, known.base.clone());
                    Ok::<_, FetchError>(Document { uri, base, value: Arc::clone(&known.value) })
                })
                .buffered(limits.connections.max(1))
                .try_collect()
                .await?;
            work.documents.extend(fetched);
        }
    }

    /// Returns the document `uri`: a known one, a local one, a cached one, or one from the network. Whoever did not
    /// fetch it, or waited while another schema did, takes its bytes from the budget as well.
    async fn get(&self, uri: &str, budget: &Budget) -> Result<Arc<Known>, DocumentErrorKind> {
        let mut is_fetched = false;
        let fetch = async {
            is_fetched = true;
            let download = self.download(uri, budget).await?;
            // The URLs of files are different on each machine.
            if let Some(lock) = self.lock.as_ref().filter(|_| !is_file(uri)) {
                lock.check(uri, &download, !self.client.policy.locked)?;
            }
            let value = Arc::new(parse(&download.bytes)?);
            let Download { bytes, base } = download;
            Ok(Arc::new(Known { base, value, bytes: bytes.len() }))
        };
        let known = self.known.get_or_insert_async(uri, fetch).await?;
        if !is_fetched {
            budget.take(known.bytes)?;
        }
        Ok(known)
    }

    /// Fails if `uri` took too long a short time ago.
    fn check_slow(&self, uri: &str) -> Result<(), DocumentErrorKind> {
        let is_slow = lock(&self.slow).get(uri).is_some_and(|since| since.elapsed() < RETRY);
        let limit = self.client.policy.limits.document_time;
        if is_slow { Err(DocumentErrorKind::DocumentTime { limit }) } else { Ok(()) }
    }

    /// Remembers that `uri` took too long.
    fn remember_slow(&self, uri: &str) {
        let mut slow = lock(&self.slow);
        if slow.len() >= MAX_SLOW {
            slow.clear();
        }
        slow.insert(uri.to_owned(), Instant::now());
    }

    /// Fetches `uri`, unless it took too long a short time ago.
    async fn fetch(&self, uri: &str, budget: &Budget) -> Result<Download, DocumentErrorKind> {
        self.check_slow(uri)?;
        let fetched = self.client.get(uri, budget).await;
        match fetched {
            Err(DocumentErrorKind::DocumentTime { .. }) => self.remember_slow(uri),
            Err(DocumentErrorKind::NotAllowed) if !self.client.policy.folders.is_empty() => {
                return Err(DocumentErrorKind::NotInFolders);
            }
            _ => {}
        }
        fetched
    }

    async fn download(&self, uri: &str, budget: &Budget) -> Result<Download, DocumentErrorKind> {
        let folders = Arc::clone(&self.folders);
        let name = uri.to_owned();
        let found = spawn_blocking(move || folders.find(&name)).await.unwrap_or_default();
        let (place, local) = match (found, &self.lock) {
            (Some((path, folder)), _) => {
                let bytes = file::read(&path, &folder, budget);
                (Place::Folder, bytes.map(|bytes| Download { bytes, base: uri.to_owned() }))
            }
            (None, Some(lock)) if self.client.policy.offline && !is_file(uri) => {
                (Place::Cache, lock.cached(uri, budget))
            }
            (None, lock) => {
                let fetched = self.fetch(uri, budget).await;
                match (&fetched, lock) {
                    (Err(kind), Some(lock)) if kind.is_out_of_reach() => {
                        let Ok(cached) = lock.cached(uri, budget) else { return fetched };
                        (Place::Cache, Ok(cached))
                    }
                    _ => return fetched,
                }
            }
        };
        let mut attempt = Attempt { place, ..Attempt::new(uri) };
        match &local {
            Ok(it) => (attempt.bytes, attempt.sha256) = (it.bytes.len(), Some(digest(&it.bytes))),
            Err(kind) => attempt.error = Some(kind.clone()),
        }
        if let Some(observer) = &self.observer {
            observer(&attempt);
        }
        local
    }
}

/// Why the schemas of a tool cannot be bundled.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{member}: {error}")]
#[non_exhaustive]
pub struct UnbundledTool {
    /// `inputSchema` or `outputSchema`.
    pub member: &'static str,
    /// What is wrong.
    pub error: FetchError,
}

/// A schema and its documents so far.
struct Work {
    schema: Value,
    base: Option<String>,
    documents: Vec<Document>,
}

fn is_file(uri: &str) -> bool {
    uri.starts_with("file:")
}

fn failure(missing: &Missing, kind: DocumentErrorKind) -> FetchError {
    let Missing { uri, from, pointer, .. } = missing.clone();
    DocumentError { uri, from, pointer, kind }.into()
}

/// Parses a document. A key that occurs twice is refused: readers would disagree about it. So is an integer that would
/// become another one.
fn parse(bytes: &[u8]) -> Result<Value, DocumentErrorKind> {
    let wrong = |reason: String| DocumentErrorKind::Json { reason: shorten(&reason) };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(format!("invalid UTF-8 at byte {}", error.valid_up_to())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(number) = large_integers(text).next() {
        return Err(wrong(format!("the integer {number} has more than 64 bits")));
    }
    let instance = Instance::parse(text).map_err(|error| wrong(error.to_string()))?;
    Ok(instance.to_value())
}
