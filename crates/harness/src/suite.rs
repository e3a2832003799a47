//! The official JSON Schema Test Suite.
//!
//! `cargo xtask setup` fetches it; the repository holds no copy.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use toolbond_schema::{Dialect, Options, metaschemas};

use crate::missing;

/// One file of the suite.
#[derive(Clone, Debug)]
pub struct File {
    /// The dialect its schemas are read by.
    pub dialect: Dialect,
    /// What it asks for.
    pub kind: Kind,
    /// The path from the folder of the suite's tests, as in `draft7/optional/bignum.json`.
    pub name: String,
    path: PathBuf,
}

/// What a file asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What every validator must do.
    Required,
    /// What a validator may do.
    Optional,
    /// Asserting a `format`.
    Format,
}

/// A schema and its cases.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// What it is about.
    pub description: String,
    /// The schema.
    pub schema: Value,
    /// The cases.
    pub tests: Vec<Case>,
}

/// A value and whether it is valid.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What it is about.
    pub description: String,
    /// The value.
    pub data: Value,
    /// Whether it is valid.
    pub valid: bool,
}

impl File {
    /// The groups of this file.
    pub fn groups(&self) -> Vec<Group> {
        serde_json::from_value(read(&self.path))
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }

    /// How the schemas of this file are compiled.
    pub fn options(&self, documents: &[(String, Value)]) -> Options {
        let options =
            Options::default().dialect(self.dialect).assert_formats(self.kind == Kind::Format);
        documents
            .iter()
            .fold(options, |options, (uri, document)| options.document(uri, document.clone()))
    }
}

/// The files of all five dialects, by name.
pub fn files() -> Vec<File> {
    Dialect::ALL.into_iter().flat_map(files_of).collect()
}

/// The files of one dialect, by name.
pub fn files_of(dialect: Dialect) -> Vec<File> {
    let folder = root().join("tests").join(folder_of(dialect));
    let file = |path: PathBuf| {
        let rest = relative(&path, &folder);
        let kind = match rest.as_str() {
            rest if rest.starts_with("optional/format/") => Kind::Format,
            rest if rest.starts_with("optional/") => Kind::Optional,
            _ => Kind::Required,
        };
        File { dialect, kind, name: format!("{}/{rest}", folder_of(dialect)), path }
    };
    json_files(&folder).into_iter().map(file).collect()
}

/// Documents by their URIs.
pub type Documents = Vec<(String, Value)>;

/// The documents that schemas of the suite refer to, for `dialect`: its remotes and the metaschemas.
///
/// Left out are the remotes of drafts that are not ours, and those of other dialects that do not say
/// which dialect they are.
pub fn documents(dialect: Dialect) -> Documents {
    let remotes = remotes();
    let mut documents: Vec<_> = json_files(&remotes)
        .into_iter()
        .map(|path| (relative(&path, &remotes), read(&path)))
        .filter(|(name, document)| {
            let folder = name.split_once('/').map_or("", |(folder, _)| folder);
            let foreign = folder.starts_with("draft") && folder != folder_of(dialect);
            !foreign || document.get("$schema").and_then(Value::as_str).is_some_and(known)
        })
        .map(|(name, document)| (format!("http://localhost:1234/{name}"), document))
        .collect();
    documents.extend(metaschemas().map(|(uri, schema)| (uri.to_owned(), schema.clone())));
    documents
}

/// The folder of what the suite calls `http://localhost:1234/`.
pub fn remotes() -> PathBuf {
    root().join("remotes")
}

fn known(uri: &str) -> bool {
    Dialect::from_uri(uri).is_some()
}

/// The folder of a dialect in the suite, such as `draft7`.
pub const fn folder_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Draft4 => "draft4",
        Dialect::Draft6 => "draft6",
        Dialect::Draft7 => "draft7",
        Dialect::Draft201909 => "draft2019-09",
        _ => "draft2020-12",
    }
}

/// Where the suite is: `TOOLBOND_SUITE`, else where `cargo xtask setup` puts it.
fn root() -> PathBuf {
    let root = std::env::var_os("TOOLBOND_SUITE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/testkit/suite"),
        PathBuf::from,
    );
    if !root.join("tests").is_dir() {
        missing("the JSON Schema Test Suite");
    }
    root
}

fn read(path: &Path) -> Value {
    fs::read(path)
        .map_err(|error| error.to_string())
        .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn relative(path: &Path, folder: &Path) -> String {
    let rest = path.strip_prefix(folder).unwrap_or(path);
    rest.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The JSON files below `folder`, sorted.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
