//! What the guard learned of output schemas, in a file for its next runs.

mod content;
mod disk;
mod place;
mod server_digest;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ahash::AHashMap;
use toolbond_guard_core::event::{Event, Listener};
use toolbond_guard_core::learned::Learned;
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::server::Server;

use self::content::{Content, Digest};
pub use self::disk::{Forgotten, ResultsFileError};
pub use self::place::ResultsPlace;
pub use self::server_digest::ServerDigest;
use crate::server::GuardedServer;

/// How often the guard looks whether it learned something that is not in the file.
const EVERY: Duration = Duration::from_secs(3);

/// How long the guard leaves a file alone that could not be written.
const PAUSE: Duration = Duration::from_secs(60);

/// How long the end of the guard waits for the file.
const LAST_SAVE: Duration = Duration::from_secs(2);

/// What the guard learned of the output schemas that servers break, in a file: digests of servers and tools, places in
/// schemas and kinds of keywords.
///
/// It is read when it is opened, and written on a thread of its own, some seconds after something was learned and at the
/// end. A file that cannot be used costs one line of the log.
pub struct ResultsFile {
    shared: Arc<Shared>,
    end: Sender<Sender<()>>,
}

struct Shared {
    path: PathBuf,
    listener: Arc<dyn Listener>,
    state: Mutex<State>,
}

struct State {
    /// What the file held when it was last read or written.
    content: Content,
    servers: Vec<Watched>,
    is_reported: bool,
    /// When it may be written again.
    pause: Option<Instant>,
}

/// A server whose tools are remembered.
#[derive(Clone)]
struct Watched {
    digest: Digest,
    server: Arc<Server>,
    /// What was learned by the time it was last written.
    changes: u64,
    saved: AHashMap<Digest, Learned>,
}

impl std::fmt::Debug for ResultsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultsFile").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl ResultsFile {
    /// Opens the file at `path`, which need not be there. Reports to `listener` if it cannot be used.
    #[must_use]
    pub fn open(path: PathBuf, listener: Arc<dyn Listener>) -> Self {
        let read = disk::read(&path);
        let state = State {
            content: Content::default(),
            servers: Vec::new(),
            is_reported: false,
            pause: None,
        };
        let shared = Arc::new(Shared { path, listener, state: Mutex::new(state) });
        match read {
            Ok(content) => lock(&shared.state).content = content.unwrap_or_default(),
            Err(error) => shared.report(&error),
        }
        let (end, ends) = mpsc::channel::<Sender<()>>();
        let saving = Arc::clone(&shared);
        thread::spawn(move || {
            loop {
                match ends.recv_timeout(EVERY) {
                    Err(RecvTimeoutError::Timeout) => saving.save(),
                    Err(RecvTimeoutError::Disconnected) => return saving.save(),
                    Ok(done) => {
                        saving.save_at_once();
                        let _ = done.send(());
                    }
                }
            }
        });
        Self { shared, end }
    }

    /// Tells `server` what is remembered of its tools, and remembers what it learns. Tells it again if it has become
    /// another server.
    pub fn watch(&self, server: &GuardedServer, digest: ServerDigest) {
        let server = server.shared();
        let mut state = lock(&self.shared.state);
        let known = state.servers.iter().position(|it| Arc::ptr_eq(&it.server, server));
        if known.is_some_and(|at| state.servers[at].digest == digest.0) {
            return;
        }
        let remembered: AHashMap<_, _> = state.content.of_server(&digest.0).collect();
        if known.is_some() {
            // It is another server now, whose schemas the old one did not break.
            server.learned().clear();
        }
        server.learned().restore(remembered.clone());
        let watched = Watched {
            digest: digest.0,
            server: Arc::clone(server),
            changes: server.learned().changes(),
            saved: remembered,
        };
        match known {
            Some(at) => state.servers[at] = watched,
            None => state.servers.push(watched),
        }
    }

    /// Writes what was learned, for two seconds at most.
    pub fn save(&self) {
        let (done, saved) = mpsc::channel();
        if self.end.send(done).is_ok() {
            let _ = saved.recv_timeout(LAST_SAVE);
        }
    }

    /// Deletes the file at `path`, and says of how many tools it was, if it could be read; `None` if there is none.
    ///
    /// Fails if it is not a file of this user, or cannot be deleted.
    pub fn forget(path: &Path) -> Result<Option<Forgotten>, ResultsFileError> {
        disk::delete(path)
    }
}

impl Shared {
    fn report(&self, error: &ResultsFileError) {
        if !std::mem::replace(&mut lock(&self.state).is_reported, true) {
            let path = self.path.display();
            let text = format!("results file {path}: {error}; what is learned is not remembered");
            self.listener.on_event(Event::warning(text));
        }
    }

    /// Writes what was learned since, unless that failed a short time ago.
    fn save(&self) {
        if lock(&self.state).pause.is_none_or(|pause| pause <= Instant::now()) {
            self.save_at_once();
        }
    }

    fn save_at_once(&self) {
        let is_changed = |it: &Watched| it.changes != it.server.learned().changes();
        let unsaved: Vec<Watched> = {
            let mut state = lock(&self.state);
            // Of servers that are gone, what is written remains.
            state.servers.retain(|it| is_changed(it) || Arc::strong_count(&it.server) > 1);
            state.servers.iter().filter(|it| is_changed(it)).cloned().collect()
        };
        if unsaved.is_empty() {
            return;
        }
        let mut written = Vec::new();
        let mut learned = Vec::new();
        for it in unsaved {
            // Before the entries: what is learned meanwhile is written next time.
            let changes = it.server.learned().changes();
            let entries = it.server.learned().entries();
            let new = entries.iter().filter(|(tool, now)| it.saved.get(tool) != Some(now));
            learned.extend(new.map(|(tool, now)| ((it.digest, *tool), now.clone())));
            written.push(Watched { changes, saved: entries.into_iter().collect(), ..it });
        }
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let updated = disk::update(&self.path, learned, time.map_or(0, |time| time.as_secs()));
        let mut state = lock(&self.state);
        match updated {
            Ok(content) => {
                state.content = content;
                state.pause = None;
                for new in written {
                    let is_it = |it: &&mut Watched| {
                        Arc::ptr_eq(&it.server, &new.server) && it.digest == new.digest
                    };
                    if let Some(it) = state.servers.iter_mut().find(is_it) {
                        *it = new;
                    }
                }
            }
            Err(error) => {
                state.pause = Some(Instant::now() + PAUSE);
                drop(state);
                self.report(&error);
            }
        }
    }
}

#[cfg(test)]
mod tests;
