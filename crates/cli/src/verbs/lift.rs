//! `toolbond lift`: converts tools and results back to their natural shape.

use std::path::PathBuf;

use serde_json::Value;
use toolbond_contract::{Form, ProjectError, Revision, lift_result, lift_tool};

use crate::exit::Exit;
use crate::reshape::{Reshape, parse_revision, run};

const EXAMPLES: &str = "\
Examples:
  toolbond lift --from 2025-11-25 tools.json
  toolbond lift --from 2025-11-25 --tool count.tool.json result.json

Exit code 0: converted; 1: an output schema or an entry could not be converted and is left out; 2: wrong usage or unreadable input.";

/// Convert tools or a result of a protocol revision back to their natural shape.
///
/// The reverse of `toolbond project`. It also recognizes the envelopes of other SDKs. The document is a
/// tool, a list of tools, a `tools/list` or `tools/call` result, or a JSON-RPC response with one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lift {
    /// The protocol revision of the document, for example 2025-11-25
    #[arg(long, value_name = "REVISION")]
    from: String,

    /// The tool that returned the result, in the form of the revision
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,

    /// The document: a JSON or YAML file, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Lift {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let lift = Lifting(parse_revision(&self.from));
        run(&self.document, self.tool.as_deref(), &lift)
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
