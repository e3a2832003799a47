//! What a file was before it was wrapped: a copy of it, and digests that tell whether it is still the one that was written.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// How long one command waits for another one that writes.
const WAIT: Duration = Duration::from_secs(10);

/// Why what a file was cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The folder cannot be written.
    #[error("{}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another command is at it.
    #[error("another `toolbond wrap` or `unwrap` is running")]
    Locked,
}

/// Held while a configuration is read, changed and written.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for others, for up to ten seconds. `data` is the folder of the command, which it creates.
    pub fn acquire(data: &Path) -> Result<Self, RecordError> {
        create_folder(data)?;
        let path = data.join("wrap.lock");
        let failed = |source| RecordError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        let end = Instant::now() + WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => return Err(RecordError::Locked),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// What a file was before it was wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    folder: PathBuf,
    copy: PathBuf,
    /// The text before.
    pub before: String,
    /// The digest of what was written then.
    written: String,
}

#[derive(Serialize, Deserialize)]
struct Digests {
    path: PathBuf,
    before: String,
    written: String,
}

impl Record {
    /// The record of the file at `path`, which is the path without links. One that is damaged counts as none.
    #[must_use]
    pub fn read(data: &Path, path: &Path) -> Option<Self> {
        let folder = folder(data, path);
        let digests = fs::read(folder.join(DIGESTS)).ok()?;
        let digests: Digests = serde_json::from_slice(&digests).ok()?;
        let copy = copy_of(&folder, path, &digests.before);
        let before = fs::read_to_string(&copy).ok()?;
        let is_this = digests.path == path && digest(&before) == digests.before;
        is_this.then_some(Self { folder, copy, before, written: digests.written })
    }

    /// Keeps that the file at `path` was `before`, and that `written` was written in its place.
    pub fn write(
        data: &Path,
        path: &Path,
        before: &str,
        written: &str,
    ) -> Result<Self, RecordError> {
        let folder = folder(data, path);
        create_folder(&folder)?;
        let (before_digest, written) = (digest(before), digest(written));
        let copy = copy_of(&folder, path, &before_digest);
        if fs::read_to_string(&copy).ok().as_deref() != Some(before) {
            write_private(&copy, before)?;
        }
        let digests =
            Digests { path: path.to_owned(), before: before_digest, written: written.clone() };
        let text = serde_json::to_string_pretty(&digests).unwrap_or_default();
        // Until now, the record is the earlier one, whose copy has another name.
        write_private(&folder.join(DIGESTS), &text)?;
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if file.path() != copy && file.file_name() != DIGESTS {
                let _ = fs::remove_file(file.path());
            }
        }
        Ok(Self { folder, copy, before: before.to_owned(), written })
    }

    /// Whether `text` is what was written.
    #[must_use]
    pub fn is_unchanged(&self, text: &str) -> bool {
        digest(text) == self.written
    }

    /// The copy of the file before.
    #[must_use]
    pub fn copy(&self) -> &Path {
        &self.copy
    }

    /// Deletes it.
    pub fn delete(self) -> Result<(), RecordError> {
        fs::remove_dir_all(&self.folder)
            .map_err(|source| RecordError::Io { path: self.folder.clone(), source })?;
        // Fails if there are records of other files.
        let _ = self.folder.parent().map(fs::remove_dir);
        Ok(())
    }
}

/// Keeps a copy of the file at `path`, which is `text`, before its guards are taken away by edits. Returns where it is.
pub fn keep_copy(data: &Path, path: &Path, text: &str) -> Result<PathBuf, RecordError> {
    let folder = data.join("unwrapped").join(name(path));
    create_folder(&folder)?;
    let copy = folder.join(format!("{}.before", file_name(path)));
    write_private(&copy, text)?;
    Ok(copy)
}

/// The name of the file with the digests.
const DIGESTS: &str = "wrapped.json";

/// The folder for the file at `path`.
fn folder(data: &Path, path: &Path) -> PathBuf {
    data.join("wrapped").join(name(path))
}

/// The name of the folder for the file at `path`.
fn name(path: &Path) -> String {
    digest(&path.to_string_lossy())[..16].to_owned()
}

/// The copy whose digest is `digest`, under the name of the file and another extension, so that no client reads it.
fn copy_of(folder: &Path, path: &Path, digest: &str) -> PathBuf {
    folder.join(format!("{}.{}.before", file_name(path), digest.get(..8).unwrap_or_default()))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn digest(text: &str) -> String {
    hmac_sha256::Hash::hash(text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn create_folder(path: &Path) -> Result<(), RecordError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })
}

/// Writes a file that only this user can read: configurations have secrets. It is the old one or the new one, whatever
/// happens meanwhile.
fn write_private(path: &Path, text: &str) -> Result<(), RecordError> {
    let beside = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    written.map_err(|source| {
        let _ = fs::remove_file(&beside);
        RecordError::Io { path: path.to_owned(), source }
    })
}
