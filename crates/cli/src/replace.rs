//! Replacing a file as a whole: whoever reads it, and whatever happens meanwhile, it is the old one or the new one.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context as _;

/// What the name of a file starts and ends with until it is written; between them is the id of the process.
const PREFIX: &str = ".toolbond-";
const SUFFIX: &str = ".tmp";

/// Writes `bytes` beside the file at `path` and then gives them its name. Permissions and owner stay, and so does a
/// symbolic link, whose target is replaced. A file that is not there is created.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    replace_if(path, bytes, || Ok(()))
}

/// The same, if `check` still succeeds when all that is left to do is to give the new file its name.
pub(crate) fn replace_if(
    path: &Path,
    bytes: &[u8],
    check: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = path.display();
    let context = || format!("{name}: not written");
    // What a link names, so that the link stays. A link to nothing is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = match fs::metadata(&target) {
        Ok(data) => {
            // Renaming would get around a file that must not be written.
            OpenOptions::new().write(true).open(&target).with_context(context)?;
            Some(data)
        }
        Err(_) => None,
    };
    let beside = beside(&target);
    let file = create(&beside, old.is_some()).map_err(|error| {
        // Of no other error, the name says more.
        let is_there = error.kind() == io::ErrorKind::AlreadyExists;
        let error = anyhow::Error::from(error);
        if is_there { error.context(beside.display().to_string()) } else { error }
    });
    let file = file.with_context(context)?;
    let written = write(file, bytes, old.as_ref()).with_context(context);
    let replaced = written
        .and_then(|()| check())
        .and_then(|()| fs::rename(&beside, &target).with_context(context));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}

/// A hidden name in the same folder, which no other process uses.
fn beside(target: &Path) -> PathBuf {
    target.with_file_name(format!("{PREFIX}{}{SUFFIX}", process::id()))
}

/// Removes what processes that were killed left beside the file at `path`: regular files of this user.
pub(crate) fn remove_left(path: &Path) {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let is_left = id.and_then(|id| id.parse().ok()).is_some_and(is_gone);
        if is_left && entry.metadata().is_ok_and(|data| data.is_file() && is_mine(&data)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether no other process has this id.
fn is_gone(id: u32) -> bool {
    #[cfg(unix)]
    if id != process::id() {
        use rustix::process::{Pid, test_kill_process};
        let id = i32::try_from(id).ok().and_then(Pid::from_raw);
        return id.is_some_and(|id| test_kill_process(id) == Err(rustix::io::Errno::SRCH));
    }
    id == process::id()
}

#[cfg(unix)]
fn is_mine(data: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(data) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_mine(_: &Metadata) -> bool {
    true
}

/// Creates a file, never through a link that somebody else has put there. Nobody else can read one that is `private`.
fn create(path: &Path, private: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

/// Writes a file that has the owner and the permissions of the `old` one.
fn write(mut file: File, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    if let Some(old) = old {
        keep_owner(&file, old)?;
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    // A full disk is told here at the latest.
    file.sync_all()
}

#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::process::Command;

    use anyhow::bail;
    use toolbond_harness::files::Folder;

    use super::{beside, create, remove_left, replace, replace_if};

    /// Whoever changes the file while the new one is written to disk keeps what they wrote.
    #[test]
    fn the_last_check_comes_after_all_is_written() {
        let folder = Folder::new();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let error = replace_if(&path, b"new", || {
            assert_eq!(fs::read(beside(&path)).unwrap(), b"new");
            fs::write(&path, "other").unwrap();
            bail!("changed")
        });
        assert_eq!(error.unwrap_err().to_string(), "changed");
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert!(!beside(&path).exists());
    }

    #[test]
    fn what_a_killed_process_left_goes() {
        let folder = Folder::new();
        let name = |id: u32| folder.path().join(format!(".toolbond-{id}.tmp"));
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let (own, parent) = (std::process::id(), std::os::unix::process::parent_id());
        for id in [own, gone.id(), parent] {
            fs::write(name(id), "").unwrap();
        }
        let link = name(u32::MAX);
        std::os::unix::fs::symlink("/", &link).unwrap();
        let path = folder.path().join("a");
        let error = format!("{:#}", replace(&path, b"new").unwrap_err());
        assert!(error.contains(&format!(".toolbond-{own}.tmp: ")), "{error}");
        remove_left(&path);
        replace(&path, b"new").unwrap();
        let left = [own, gone.id(), parent].map(|id| name(id).exists());
        assert!(left == [false, false, true] && link.is_symlink());
    }

    #[test]
    fn nobody_else_reads_what_is_not_yet_protected() {
        let folder = Folder::new();
        let file = create(&folder.path().join("a"), true).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_owner_and_the_permissions_stay() {
        let folder = Folder::new();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Only root can give a file away.
        let owner = if chown(&path, Some(1), Some(1)).is_ok() { Some((1, 1)) } else { None };
        replace(&path, b"new").unwrap();
        let data = fs::metadata(&path).unwrap();
        assert_eq!(data.mode() & 0o777, 0o640);
        assert!(owner.is_none_or(|owner| owner == (data.uid(), data.gid())));
    }
}
