//! `toolpact lift`: tools and results back in their natural shape.

use std::path::PathBuf;

use serde_json::Value;
use toolpact_contract::{Form, ProjectError, Revision, lift_result, lift_tool};

use crate::exit::Outcome;
use crate::reshape::{Reshape, revision, run};

const EXAMPLES: &str = "\
Examples:
  toolpact lift --from 2025-11-25 tools.json
  toolpact lift --from 2025-11-25 --tool count.tool.json result.json

Exit code 0: written; 1: an output schema could not be lifted and is left out, or an entry is no tool; 2: wrong usage or unreadable input.";

/// Lift tools or a result, as a revision carried them, to their natural shape.
///
/// Undoes `toolpact project`, and understands the envelopes of other SDKs. Takes a tool, a list of
/// tools, a `tools/list` or `tools/call` result, or a JSON-RPC response with one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lift {
    /// The revision that was spoken, such as 2025-11-25
    #[arg(long, value_name = "REVISION")]
    from: String,

    /// The tool, as the revision carried it, that gave the result
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,

    /// The document, a JSON or YAML file (`-` for standard input)
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Lift {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let from = Lifting(revision(&self.from));
        run(&self.document, self.tool.as_deref(), &from)
    }
}

struct Lifting(Revision);

impl Reshape for Lifting {
    fn tool(&self, tool: &Value) -> Result<(Value, Form), ProjectError> {
        let shaped = lift_tool(tool, &self.0)?;
        Ok((shaped.tool.into_owned(), shaped.form))
    }

    fn result(&self, result: &Value, form: Form) -> Result<Value, ProjectError> {
        lift_result(result, form).map(std::borrow::Cow::into_owned)
    }
}
