//! Reading local documents.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

use crate::budget::Budget;
use crate::error::{DocumentErrorKind, shorten};

/// Reads the file at `path`, which has to be `root` or inside it, links followed.
pub(crate) fn read(
    path: &Path,
    root: &Path,
    budget: &Budget,
) -> Result<Vec<u8>, DocumentErrorKind> {
    let failed = |error: io::Error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => shorten(&error.to_string()),
        };
        DocumentErrorKind::File { reason }
    };
    let file = open(path).map_err(failed)?;
    let path = fs::canonicalize(path).map_err(failed)?;
    let is_inside = path.starts_with(fs::canonicalize(root).map_err(failed)?);
    // The path may lead elsewhere by now than it did when the file was opened.
    if !is_inside || !is_same(&file, &path).map_err(failed)? {
        return Err(DocumentErrorKind::NotAllowed);
    }
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(DocumentErrorKind::File { reason: "not a file".to_owned() });
    }
    let mut bytes = Vec::new();
    let most = budget.most_bytes();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    budget.check_document(bytes.len())?;
    budget.take(bytes.len())?;
    Ok(bytes)
}

/// Opens a file. A pipe does not wait for its writer.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Whether `path` leads to `file`.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "the same as on Unix"))]
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (file, path) = (file.metadata()?, fs::metadata(path)?);
        Ok((file.dev(), file.ino()) == (path.dev(), path.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}
