//! Documents in local folders.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;
use url::{Position, Url};

use crate::policy::{Folder, parse_url, path_below};

/// The most files that are looked at for their `$id`, and the most bytes of each.
const MAX_FILES: usize = 10_000;
const MAX_BYTES: u64 = 4 << 20;

/// The deepest folder that is searched.
const MAX_DEPTH: usize = 16;

/// Documents in local folders.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    folders: Vec<Folder>,
    /// The files that name themselves in `$id`.
    by_id: OnceLock<HashMap<String, (PathBuf, PathBuf)>>,
}

impl Folders {
    pub(crate) fn new(folders: Vec<Folder>) -> Self {
        Self { folders, by_id: OnceLock::new() }
    }

    /// Finds the file with the document `uri`, and the folder that it has to be in.
    pub(crate) fn find(&self, uri: &str) -> Option<(PathBuf, PathBuf)> {
        if self.folders.is_empty() {
            return None;
        }
        let url = parse_url(uri).ok();
        let by_path = url.and_then(|url| {
            self.folders.iter().find_map(|folder| {
                let path = below(folder, &url)?;
                path.is_file().then(|| (path, folder.path.clone()))
            })
        });
        by_path.or_else(|| self.by_id.get_or_init(|| self.index()).get(bare(uri)).cloned())
    }

    fn index(&self) -> HashMap<String, (PathBuf, PathBuf)> {
        let mut found = HashMap::new();
        let mut left = MAX_FILES;
        for folder in self.folders.iter().filter(|folder| folder.url.is_none()) {
            search(&folder.path, 0, &mut left, &mut |path| {
                if let Some(id) = id(path) {
                    let place = (path.to_owned(), folder.path.clone());
                    found.entry(bare(&id).to_owned()).or_insert(place);
                }
            });
        }
        found
    }
}

/// The path of `url` in `folder`: below the URL of the folder, or below its host.
fn below(folder: &Folder, url: &Url) -> Option<PathBuf> {
    let (prefix, rest) = match &folder.url {
        Some(prefix) => {
            let is_same = url[..Position::BeforePath] == prefix[..Position::BeforePath];
            (PathBuf::new(), path_below(url, prefix).filter(|_| is_same)?)
        }
        None => (PathBuf::from(&url[Position::BeforeHost..Position::AfterPort]), url.path()),
    };
    let mut path = folder.path.join(prefix);
    for segment in rest.split('/').filter(|segment| !segment.is_empty()) {
        let name = percent_decode_str(segment).decode_utf8().ok()?;
        if name.contains(['/', '\\', ':', '\0']) || matches!(&*name, "." | "..") {
            return None;
        }
        path.push(&*name);
    }
    Some(path)
}

/// Calls `visit` with the JSON files in `folder`.
fn search(folder: &Path, depth: usize, left: &mut usize, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> =
        entries.flatten().take(MAX_FILES).map(|entry| (entry.file_type(), entry.path())).collect();
    // The order of a folder is not the same everywhere.
    paths.sort_by(|left, right| left.1.cmp(&right.1));
    for (kind, path) in paths {
        let Ok(kind) = kind else { continue };
        if kind.is_dir() && depth < MAX_DEPTH {
            search(&path, depth + 1, left, visit);
        } else if kind.is_file() && path.extension().is_some_and(|it| it == "json") {
            if *left == 0 {
                return;
            }
            *left -= 1;
            visit(&path);
        }
    }
}

/// The `$id` of the document at `path`.
fn id(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Document {
        #[serde(rename = "$id")]
        id: Option<Value>,
        #[serde(rename = "id")]
        draft4: Option<Value>,
    }
    let is_small = fs::metadata(path).is_ok_and(|data| data.len() <= MAX_BYTES);
    let text = is_small.then(|| fs::read_to_string(path).ok()).flatten()?;
    let document: Document = serde_json::from_str(&text).ok()?;
    Some(document.id.or(document.draft4)?.as_str()?.to_owned())
}

fn bare(uri: &str) -> &str {
    uri.trim_end_matches('#')
}
