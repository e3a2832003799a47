//! `toolpact project`: tools and results as a revision can carry them.

use std::path::PathBuf;

use serde_json::Value;
use toolpact_contract::{Form, ProjectError, Revision, project_tool, send_result};

use crate::exit::Outcome;
use crate::reshape::{Reshape, revision, run};

const EXAMPLES: &str = "\
Examples:
  toolpact project --to 2025-11-25 tools.json
  toolpact project --to 2025-11-25 --tool count.tool.json result.json

Exit code 0: written; 1: an output schema could not be projected and is left out, or an entry is no tool; 2: wrong usage or unreadable input.";

/// Project tools or a result, in their natural shape, to what a revision can carry.
///
/// Takes a tool, a list of tools, a `tools/list` or `tools/call` result, or a JSON-RPC response with
/// one, and writes the same document with what the revision asks for. From 2026-07-28 on any output
/// schema and any value can be carried; before, and for unknown revisions, other than objects go into
/// an envelope.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Project {
    /// The revision, such as 2025-11-25
    #[arg(long, value_name = "REVISION")]
    to: String,

    /// The tool, in its natural shape, that gave the result
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,

    /// The document, a JSON or YAML file (`-` for standard input)
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Project {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let to = Projecting(revision(&self.to));
        run(&self.document, self.tool.as_deref(), &to)
    }
}

struct Projecting(Revision);

impl Reshape for Projecting {
    fn tool(&self, tool: &Value) -> Result<(Value, Form), ProjectError> {
        let shaped = project_tool(tool, &self.0)?;
        Ok((shaped.tool.into_owned(), shaped.form))
    }

    fn result(&self, result: &Value, form: Form) -> Result<Value, ProjectError> {
        send_result(result, form, &self.0).map(std::borrow::Cow::into_owned)
    }
}
