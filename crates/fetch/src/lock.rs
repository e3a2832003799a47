//! The lock file, and the cache of the documents in it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process};

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::client::Download;
use crate::digest::digest;
use crate::error::DocumentErrorKind;
use crate::mutex::lock;

/// The most bytes of a lock file.
const MAX_FILE: u64 = 4 << 20;

/// The digests of documents, and the folder that keeps the documents.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    cache: PathBuf,
    entries: Mutex<BTreeMap<String, Entry>>,
}

/// The lock file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    documents: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    sha256: String,
    /// Where redirects led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found_at: Option<String>,
}

/// Why a lock file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// It is not a lock file.
    #[error("{}: expected a lock file of `toolbond`: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The user has no cache folder.
    #[error("found no cache folder; name one with `--cache`")]
    NoCache,
    /// Documents have to be in a lock file, and there is none.
    #[error("without a lock file nothing can be `offline` or `locked`")]
    NoLock,
}

impl Lock {
    /// Reads the lock file at `path`, or starts a new one unless it has to be there. `cache` keeps the documents.
    pub(crate) fn open(
        path: &Path,
        cache: Option<&Path>,
        has_to_be_there: bool,
    ) -> Result<Self, LockError> {
        let cache = cache.map(Path::to_owned).or_else(cache_folder).ok_or(LockError::NoCache)?;
        let failed = |source| LockError::File { path: path.to_owned(), source };
        if cache.exists() && !cache.is_dir() {
            let source = io::Error::other("not a folder");
            return Err(LockError::File { path: cache, source });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let has_folder = folder.is_none_or(Path::is_dir);
        let text: Option<BTreeMap<_, _>> = match fs::metadata(path) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && has_folder && !has_to_be_there =>
            {
                None
            }
            Err(error) => return Err(failed(error)),
            Ok(_) => Some(read(path)?),
        };
        Ok(Self { path: path.to_owned(), cache, entries: Mutex::new(text.unwrap_or_default()) })
    }

    /// Checks a document that was fetched. Adds it if it is new and may be added.
    pub(crate) fn check(
        &self,
        uri: &str,
        download: &Download,
        may_add: bool,
    ) -> Result<(), DocumentErrorKind> {
        let found = digest(&download.bytes);
        let locked = lock(&self.entries).get(uri).cloned();
        match locked {
            Some(locked) if locked.sha256 != found => {
                return Err(DocumentErrorKind::Changed { locked: locked.sha256, found });
            }
            Some(locked) if locked.found_at.as_deref().unwrap_or(uri) != download.base => {
                let locked = locked.found_at.unwrap_or_else(|| uri.to_owned());
                return Err(DocumentErrorKind::Moved { locked, found: download.base.clone() });
            }
            Some(_) => {}
            None if !may_add => return Err(DocumentErrorKind::Unlocked),
            None => {
                let found_at = (download.base != uri).then(|| download.base.clone());
                let entry = Entry { sha256: found.clone(), found_at };
                lock(&self.entries).insert(uri.to_owned(), entry);
            }
        }
        // Without the cache there is only no `--offline`.
        let _ = fs::create_dir_all(&self.cache)
            .and_then(|()| write(&self.cache.join(format!("{found}.json")), &download.bytes));
        Ok(())
    }

    /// Takes a document from the cache.
    pub(crate) fn cached(&self, uri: &str, budget: &Budget) -> Result<Download, DocumentErrorKind> {
        let Some(entry) = lock(&self.entries).get(uri).cloned() else {
            return Err(DocumentErrorKind::Unlocked);
        };
        let absent = DocumentErrorKind::Uncached;
        // The digest comes from a file.
        let is_digest =
            |text: &str| text.len() == 64 && text.bytes().all(|c| c.is_ascii_hexdigit());
        let path = self.cache.join(format!("{}.json", entry.sha256));
        let is_small = fs::metadata(&path)
            .is_ok_and(|data| data.is_file() && data.len() <= budget.most_bytes());
        if !is_digest(&entry.sha256) || !is_small {
            return Err(absent);
        }
        let bytes = fs::read(&path).map_err(|_| absent)?;
        let found = digest(&bytes);
        if found != entry.sha256 {
            return Err(DocumentErrorKind::Changed { locked: entry.sha256, found });
        }
        budget.take(bytes.len())?;
        Ok(Download { bytes, base: entry.found_at.unwrap_or_else(|| uri.to_owned()) })
    }

    /// Adds new entries to the lock file.
    pub(crate) fn save(&self) -> Result<(), LockError> {
        // Several servers may have the same file.
        static SAVING: Mutex<()> = Mutex::new(());
        let _saving = lock(&SAVING);
        let before = if self.path.exists() { read(&self.path)? } else { BTreeMap::new() };
        let mut documents = lock(&self.entries).clone();
        documents.extend(before.clone());
        if documents == before {
            return Ok(());
        }
        let failed = |source| LockError::File { path: self.path.clone(), source };
        let content = Content { version: 1, documents };
        let mut text = serde_json::to_string_pretty(&content).map_err(|it| failed(it.into()))?;
        text.push('\n');
        write(&self.path, text.as_bytes()).map_err(failed)
    }
}

/// Reads a lock file.
fn read(path: &Path) -> Result<BTreeMap<String, Entry>, LockError> {
    let failed = |source| LockError::File { path: path.to_owned(), source };
    let wrong = |reason| LockError::Content { path: path.to_owned(), reason };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_FILE {
        return Err(failed(io::Error::other(format!("exceeds {MAX_FILE} bytes"))));
    }
    let content: Content = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match content.version {
        1 => Ok(content.documents),
        version => Err(wrong(format!("version {version}, expected 1"))),
    }
}

/// Writes a file as a whole, or not at all.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.{number}.tmp", process::id()));
    let temporary = PathBuf::from(temporary);
    // Never through a link that somebody else has put there.
    let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The folder of Toolbond in the folder for caches of this user; `None` where there is none.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_home = |name| env::home_dir().map(|home| home.join(name));
    let folder = if cfg!(windows) {
        named("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        in_home("Library/Caches")
    } else {
        named("XDG_CACHE_HOME").or_else(|| in_home(".cache"))
    };
    Some(folder?.join("toolbond"))
}
