//! `toolbond convert`: converts schemas of older dialects to 2020-12, and back.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use serde_json::Value;
use toolbond_contract::{Severity, convert_tool, dialect::to_2020_12, revert_tool};

use crate::exit::Exit;
use crate::input;
use crate::shape::Shape;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolbond convert tools.json
  toolbond convert weather.schema.json
  toolbond convert --back converted.json

Exit code 0: converted; 1: a schema could not be converted and is left as it is; 2: wrong usage or unreadable input.";

/// Convert schemas of older JSON Schema dialects, such as draft-07, to 2020-12.
///
/// The document is a tool, a list of tools, a `tools/list` result, a JSON-RPC response with one, or a schema.
/// Schemas keep their meaning and lose `$schema`: without it they are 2020-12. A converted tool has a marker
/// in `_meta`, by which `--back` restores it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// Restore converted tools
    #[arg(long)]
    back: bool,

    /// The document: a JSON or YAML file, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    document: PathBuf,
}

impl Convert {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let name = self.document.display();
        let mut value = input::read_value(&self.document)?;
        let mut exit = Exit::Clean;
        match Shape::find(&mut value) {
            Some(Shape::Tools(tools)) => {
                for tool in tools {
                    self.convert_tool(tool, &mut exit);
                }
            }
            Some(Shape::Tool(tool)) => self.convert_tool(tool, &mut exit),
            _ if self.back => bail!("{name}: expected tools, found none"),
            _ => match to_2020_12(&value) {
                Ok(converted) => value = converted.into_owned(),
                Err(error) => {
                    exit = Exit::Findings;
                    terminal::print_error(&anyhow!("{name}: {error}; left as it is"));
                }
            },
        }
        writeln!(io::stdout().lock(), "{value:#}")?;
        Ok(exit)
    }

    /// Converts `tool` in place, and reports what could not be converted.
    fn convert_tool(&self, tool: &mut Value, exit: &mut Exit) {
        if self.back {
            *tool = revert_tool(tool).into_owned();
            return;
        }
        let converted = convert_tool(tool);
        for finding in &converted.findings {
            if finding.severity > Severity::Info {
                *exit = Exit::Findings;
                let name = finding.tool.as_deref().unwrap_or("without a name");
                let (place, message) = (&finding.pointer, &finding.message);
                terminal::print_error(&anyhow!("tool {name}: {place}: {message}; left as it is"));
            }
        }
        *tool = converted.tool.into_owned();
    }
}
