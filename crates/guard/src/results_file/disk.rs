//! Reading and writing a results file: a regular file of this user, written as a whole, by one guard at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use toolbond_guard_core::learned::Learned;

use super::content::{Content, Digest, MAX_FILE, VERSION, is_ours};

/// What was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forgotten {
    /// How many tools it was about; `None` if it could not be read.
    pub tools: Option<usize>,
}

/// How long a guard waits for another one that writes.
const WAIT: Duration = Duration::from_secs(1);

/// Why a results file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsFileError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is a folder, a link or a device.
    #[error("expected a regular file")]
    NotAFile,
    /// Another user owns it.
    #[error("it belongs to another user")]
    Foreign,
    /// Other users may write it.
    #[error("other users may write it")]
    Shared,
    /// It is too long.
    #[error("exceeds the limit of {MAX_FILE} bytes")]
    TooLong,
    /// It is some other file, which stays whatever happens.
    #[error("it holds something else: expected `{{\"version\":{VERSION},\"tools\":[` at its start")]
    NotOurs,
    /// A file of somebody else stands where the new one is written.
    #[error("{} is in the way", .0.display())]
    InTheWay(PathBuf),
    /// It is damaged, or of another version.
    #[error(
        "expected a results file of version {VERSION}: {0}; `toolbond guard --forget` deletes it"
    )]
    Damaged(String),
    /// Nobody may write it.
    #[error("it is read-only")]
    ReadOnly,
    /// Another guard holds the lock for too long.
    #[error("another process has locked it")]
    Locked,
}

/// Reads the file at `path`, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<Content>, ResultsFileError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut text = Vec::new();
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut text)?;
    // A machine that loses power may leave an empty file.
    if text.is_empty() {
        return Ok(None);
    }
    if !is_ours(&text) {
        return Err(ResultsFileError::NotOurs);
    }
    if text.len() > MAX_FILE {
        return Err(ResultsFileError::TooLong);
    }
    Content::parse(&text).map(Some).map_err(ResultsFileError::Damaged)
}

/// Adds `learned` to the file at `path`, and returns what it holds then. A file that cannot be read stays as it is.
pub(super) fn update(
    path: &Path,
    learned: Vec<((Digest, Digest), Learned)>,
    time: u64,
) -> Result<Content, ResultsFileError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let _lock = lock(path)?;
    let before = read(path)?;
    if fs::metadata(path).is_ok_and(|data| data.permissions().readonly()) {
        return Err(ResultsFileError::ReadOnly);
    }
    let mut content = before.clone().unwrap_or_default();
    for (key, learned) in learned {
        content.add(key, learned, time);
    }
    if before.as_ref() == Some(&content) {
        return Ok(content);
    }
    let (text, content) = content.into_text();
    replace(path, text.as_bytes())?;
    Ok(content)
}

/// Deletes the file at `path`, if there is one that is empty or begins as a results file does.
pub(super) fn delete(path: &Path) -> Result<Option<Forgotten>, ResultsFileError> {
    if open(path)?.is_none() {
        return Ok(None);
    }
    // Nothing is left beside a file of others.
    if let Err(error @ ResultsFileError::NotOurs) = read(path) {
        return Err(error);
    }
    let _lock = lock(path)?;
    let tools = match read(path) {
        Ok(content) => Some(content.map_or(0, |content| content.len())),
        Err(ResultsFileError::Damaged(_) | ResultsFileError::TooLong) => None,
        Err(error) => return Err(error),
    };
    fs::remove_file(path)?;
    Ok(Some(Forgotten { tools }))
}

/// Opens the file at `path`, if there is one: a regular file that belongs to this user and that nobody else may write.
fn open(path: &Path) -> Result<Option<File>, ResultsFileError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
        // It is not even opened: a pipe or a device may do something then.
        Ok(data) if !data.is_file() => return Err(ResultsFileError::NotAFile),
        Ok(_) => {}
    }
    let file = options().read(true).open(path)?;
    // The path may lead elsewhere by now.
    let data = file.metadata()?;
    if !data.is_file() {
        return Err(ResultsFileError::NotAFile);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if data.uid() != rustix::process::geteuid().as_raw() {
            return Err(ResultsFileError::Foreign);
        }
        if data.mode() & 0o022 != 0 {
            return Err(ResultsFileError::Shared);
        }
    }
    Ok(Some(file))
}

/// Opens no link, waits for nobody, and creates files for this user alone.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Locks the file at `path` for this process, which ends when the lock is dropped or the process ends.
fn lock(path: &Path) -> Result<File, ResultsFileError> {
    let file = options().write(true).create(true).truncate(false).open(beside(path, "lock"))?;
    let end = Instant::now() + WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < end => {
                sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => return Err(ResultsFileError::Locked),
            // Some file systems have no locks. What is written is whole even so.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(file);
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

/// Writes the file at `path` as a whole, or not at all.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), ResultsFileError> {
    let temporary = beside(path, "tmp");
    // One that a guard left when it was killed goes; what somebody else wrote stays.
    match read(&temporary) {
        Ok(_) | Err(ResultsFileError::Damaged(_) | ResultsFileError::TooLong) => {}
        Err(ResultsFileError::NotOurs) if is_cut(&temporary)? => {}
        Err(ResultsFileError::NotOurs) => return Err(ResultsFileError::InTheWay(temporary)),
        Err(error) => return Err(error),
    }
    if let Err(error) = fs::remove_file(&temporary)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error.into());
    }
    let mut file = options().write(true).create_new(true).open(&temporary)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    Ok(written?)
}

/// Whether the file at `path` is the start of a results file, or what a machine that lost power left of one.
fn is_cut(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    options().read(true).open(path)?.take(16).read_to_end(&mut start)?;
    Ok(br#"{"version":"#.starts_with(&start) || start.iter().all(|byte| *byte == 0))
}

/// The path of a file beside the one at `path`.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".");
    beside.push(extension);
    beside.into()
}
