//! A published server and the calls that it gets, from `peers/published/servers`.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// The folder of the pinned packages, the cases, and what keeps servers off the network.
pub(super) fn folder() -> PathBuf {
    toolbond_harness::peers::path("published")
}

/// A server. In all texts, `SCRATCH` is the folder that it may write to, `NODE` the one of the Node packages.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) package: String,
    pub(super) command: Vec<String>,
    /// The list of `peers/python` that has its packages.
    pub(super) python: Option<String>,
    #[serde(default)]
    pub(super) env: HashMap<String, String>,
    /// A shell command that fills the scratch folder.
    pub(super) prepare: Option<String>,
    /// Whether the tool list depends on the time.
    #[serde(default)]
    pub(super) tools_vary: bool,
    /// Right calls.
    pub(super) calls: Vec<Call>,
    /// Calls that the server takes and the guard refuses, because they break the tool's schema and no
    /// repair applies.
    #[serde(default)]
    pub(super) refused: Vec<Call>,
}

/// A call, written as tool, arguments and note. The note says why the answer differs from run to run, or
/// why the guard refuses the call.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Written")]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) note: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Plain(String, Value),
    Noted(String, Value, String),
}

impl From<Written> for Call {
    fn from(written: Written) -> Self {
        let (tool, arguments, note) = match written {
            Written::Plain(tool, arguments) => (tool, arguments, None),
            Written::Noted(tool, arguments, note) => (tool, arguments, Some(note)),
        };
        Self { tool, arguments, note }
    }
}

impl Case {
    /// The case as it is written.
    pub(super) fn load(name: &str) -> Self {
        serde_json::from_str(&Self::text(name)).unwrap()
    }

    /// The case with folders in place of their names.
    pub(super) fn with_folders(name: &str, folders: &[(&str, &str)]) -> Self {
        let text = folders.iter().fold(Self::text(name), |text, (from, to)| text.replace(from, to));
        serde_json::from_str(&text).unwrap()
    }

    fn text(name: &str) -> String {
        std::fs::read_to_string(folder().join(format!("servers/{name}.json"))).unwrap()
    }
}
