//! Replacing a file as a whole: whoever reads it, and whatever happens meanwhile, it is the old one or the new one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context as _;

/// Writes `bytes` beside the file at `path` and then gives them its name. Permissions stay, and so does a symbolic link,
/// whose target is replaced. A file that is not there is created.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let name = path.display();
    let context = || format!("{name}: not written");
    // What a link names, so that the link stays. A link to nothing is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let permissions = match fs::metadata(&target) {
        Ok(data) => {
            // Renaming would get around a file that must not be written.
            OpenOptions::new().write(true).open(&target).with_context(context)?;
            Some(data.permissions())
        }
        Err(_) => None,
    };
    let beside = beside(&target);
    // Never through a link that somebody else has put there.
    let file = OpenOptions::new().write(true).create_new(true).open(&beside);
    let file = file.with_context(context)?;
    let written = write(file, bytes, permissions).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(context)
}

/// A hidden name in the same folder, which no other process uses.
fn beside(target: &Path) -> PathBuf {
    target.with_file_name(format!(".toolbond-{}.tmp", process::id()))
}

fn write(mut file: File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    // A full disk is told here at the latest.
    file.sync_all()
}
