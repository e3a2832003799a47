//! Reading local documents.

use std::fs::{self, File};
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
    let path = fs::canonicalize(path).map_err(failed)?;
    if !path.starts_with(fs::canonicalize(root).map_err(failed)?) {
        return Err(DocumentErrorKind::NotAllowed);
    }
    // A pipe would wait for a writer.
    if !fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(DocumentErrorKind::File { reason: "not a file".to_owned() });
    }
    let mut bytes = Vec::new();
    let most = budget.most_bytes();
    File::open(&path)
        .map_err(failed)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    budget.check_document(bytes.len())?;
    budget.take(bytes.len())?;
    Ok(bytes)
}
