//! The files, folders and URLs that are checked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

use crate::live;
use crate::terminal;

/// The most levels of folders.
const MAX_DEPTH: usize = 16;

/// The most files of a folder and the folders in it.
const MAX_FILES: usize = 10_000;

/// The most skipped files that are named.
const MAX_NAMED: usize = 5;

/// One thing to check.
pub(crate) enum Input {
    /// A file, or standard input if it is `-`.
    File(PathBuf),
    /// A file of a folder: it is skipped if it is not a tool list.
    InFolder(PathBuf),
    /// A live server.
    Url(String),
}

/// Returns what `paths` name: files, files in folders, and URLs.
pub(crate) fn expand(paths: &[PathBuf]) -> Vec<anyhow::Result<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        if let Some(url) = live::as_url(path) {
            inputs.push(Ok(Input::Url(url.to_owned())));
        } else if path.is_dir() {
            match files(path) {
                Ok(files) => inputs.extend(files.into_iter().map(|file| Ok(Input::InFolder(file)))),
                Err(error) => inputs.push(Err(error)),
            }
        } else {
            inputs.push(Ok(Input::File(path.clone())));
        }
    }
    inputs
}

/// The JSON and YAML files in `folder` and below, sorted, without hidden ones and those in `node_modules`. Symbolic links
/// to folders are not followed.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let name = folder.display();
        let entries = fs::read_dir(&folder).map_err(|error| anyhow!("{name}: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| anyhow!("{name}: {error}"))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| anyhow!("{}: {error}", path.display()))?;
            let file = entry.file_name();
            if file.as_encoded_bytes().starts_with(b".") || file == "node_modules" {
                continue;
            }
            if kind.is_dir() {
                if depth == MAX_DEPTH {
                    bail!("{}: exceeds the limit of {MAX_DEPTH} nested folders", path.display());
                }
                folders.push((path, depth + 1));
            } else if is_list_name(&path) && path.is_file() {
                if found.len() == MAX_FILES {
                    bail!("{name}: exceeds the limit of {MAX_FILES} files in a folder");
                }
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        bail!("{}: has no JSON or YAML files", folder.display());
    }
    found.sort_unstable();
    Ok(found)
}

fn is_list_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("json" | "jsonl" | "ndjson" | "yaml" | "yml"))
}

/// Says on standard error which files of folders were skipped.
pub(crate) fn note_skipped(skipped: &[String]) {
    if skipped.is_empty() {
        return;
    }
    let mut names = skipped.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if skipped.len() > MAX_NAMED {
        names.push_str(", …");
    }
    let count = super::report::plural(skipped.len(), "file");
    terminal::print_note(&format!("skipped {count} without a tool list: {names}"));
}
