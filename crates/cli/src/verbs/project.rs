//! `toolbond project`: converts tools and results for a protocol revision.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;
use toolbond_contract::{Form, ProjectError, Revision, project_result, project_tool};

use crate::exit::Exit;
use crate::reshape::{Reshape, parse_revision, run};

const EXAMPLES: &str = "\
Examples:
  toolbond project --to 2025-11-25 tools.json
  toolbond project --to 2025-11-25 --tool count.tool.json result.json

Exit code 0: converted; 1: an output schema or an entry could not be converted and is left out; 2: wrong usage or unreadable input.";

/// Convert tools or a result from their natural shape to what a protocol revision allows.
///
/// The document is a tool, a list of tools, a `tools/list` or `tools/call` result, or a JSON-RPC response
/// with one. From 2026-07-28 on, results may have any shape, and nothing changes. For older and unknown
/// revisions, results other than objects are put into an envelope `{"result": …}`, and their schemas as
/// well.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Project {
    /// The protocol revision, for example 2025-11-25
    #[arg(long, value_name = "REVISION")]
    to: String,

    /// The tool that returned the result, in its natural shape
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,

    /// The document: a JSON or YAML file, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Project {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let projection = Projecting(parse_revision(&self.to));
        run(&self.document, self.tool.as_deref(), &projection)
    }
}

struct Projecting(Revision);

impl Reshape for Projecting {
    fn tool(&self, tool: &Value) -> Result<(Value, Form), ProjectError> {
        let shaped = project_tool(tool, &self.0)?;
        Ok((shaped.tool.into_owned(), shaped.form))
    }

    fn result(&self, result: &Value, form: Form) -> Result<Value, ProjectError> {
        project_result(Cow::Borrowed(result), form, &self.0).map(Cow::into_owned)
    }
}
