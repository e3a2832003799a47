//! Tool lists of published MCP servers, where they lie beside the repository.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

/// What one server answered to `tools/list`.
#[derive(Clone, Debug)]
pub struct Server {
    /// The file's name without its extension.
    pub name: String,
    /// The whole file.
    pub document: Value,
}

/// A schema of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolSchema<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// `inputSchema` or `outputSchema`.
    pub side: &'static str,
    /// The schema.
    pub schema: &'a Value,
}

impl Server {
    /// The tools.
    pub fn tools(&self) -> &[Value] {
        self.document["tools"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The schemas of the tools.
    pub fn schemas(&self) -> impl Iterator<Item = ToolSchema<'_>> {
        self.tools().iter().flat_map(|tool| {
            let name = tool["name"].as_str().unwrap_or_default();
            ["inputSchema", "outputSchema"].into_iter().filter_map(move |side| {
                Some(ToolSchema { tool: name, side, schema: tool.get(side)? })
            })
        })
    }
}

/// Where the corpus is: `TOOLBOND_CORPUS`, else `shared/corpus` beside the repository.
pub fn folder() -> PathBuf {
    std::env::var_os("TOOLBOND_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
        PathBuf::from,
    )
}

/// A server that has not been read yet.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's name without its extension.
    pub name: String,
    path: PathBuf,
}

impl File {
    /// Reads the file.
    pub fn read(&self) -> Server {
        let document = serde_json::from_str(&self.text())
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        Server { name: self.name.clone(), document }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        fs::read_to_string(&self.path)
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }
}

/// The files of all servers, by name; the reason where there is no corpus.
pub fn files() -> Result<Vec<File>, String> {
    let folder = folder();
    let absent = |error: io::Error| format!("no corpus at {}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(absent)? {
        let path = entry.map_err(absent)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files.push(File { name, path });
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

/// Every server, by name; the reason where there is no corpus.
pub fn servers() -> Result<impl Iterator<Item = Server>, String> {
    Ok(files()?.into_iter().map(|file| file.read()))
}
