//! Writing a document again with its tools or its result in another shape.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;
use toolpact_contract::{Form, ProjectError};

use crate::exit::Outcome;
use crate::input;
use crate::shape::Shape;
use crate::terminal;

/// A way to give tools and results another shape.
pub(crate) trait Reshape {
    /// The tool in the other shape, and how its output travels between the two.
    fn tool(&self, tool: &Value) -> Result<(Value, Form), ProjectError>;

    /// A result of a tool whose output travels as `form` says.
    fn result(&self, result: &Value, form: Form) -> Result<Value, ProjectError>;
}

/// Reads `document`, and `tool` where it holds a result, and writes it to standard output.
pub(crate) fn run(
    document: &Path,
    tool: Option<&Path>,
    reshape: &impl Reshape,
) -> anyhow::Result<Outcome> {
    if document.as_os_str() == "-" && tool.is_some_and(|tool| tool.as_os_str() == "-") {
        bail!("`-` is given more than once, standard input can be read only once");
    }
    let name = document.display();
    let mut value = input::value(document)?;
    let mut outcome = Outcome::Clean;
    match (Shape::of(&mut value), tool) {
        (Some(Shape::Tools(tools)), None) => {
            tools.retain_mut(|tool| {
                let kept = each(tool, reshape);
                if let Err(error) = &kept {
                    terminal::complain(error);
                    outcome = Outcome::Findings;
                }
                kept.is_ok()
            });
        }
        (Some(Shape::Tool(tool)), None) => each(tool, reshape)?,
        (Some(Shape::Result(result)), tool) => {
            let form = match tool {
                Some(path) => form(path, reshape)?,
                None => Form::Undeclared,
            };
            *result = reshape.result(result, form).with_context(|| name.to_string())?;
        }
        (Some(_), Some(_)) => bail!("{name}: holds tools, `--tool` goes with the result of a call"),
        (None, _) => bail!("{name}: expected tools or the result of a call, found neither"),
    }
    writeln!(io::stdout().lock(), "{value:#}")?;
    Ok(outcome)
}

fn each(tool: &mut Value, reshape: &impl Reshape) -> anyhow::Result<()> {
    let shaped = reshape.tool(tool).map_err(|error| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or("without a name");
        anyhow!("tool {name}: {error}; left out")
    })?;
    *tool = shaped.0;
    Ok(())
}

fn form(path: &Path, reshape: &impl Reshape) -> anyhow::Result<Form> {
    let name = path.display();
    let mut value = input::value(path)?;
    match Shape::of(&mut value) {
        Some(Shape::Tool(tool)) => Ok(reshape.tool(tool).with_context(|| name.to_string())?.1),
        _ => bail!("{name}: expected one tool"),
    }
}
