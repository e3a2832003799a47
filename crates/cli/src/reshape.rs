//! Converts the tools or the result of a document, for `toolbond project` and `toolbond lift`.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;
use toolbond_contract::{Form, ProjectError, Revision};

use crate::exit::Exit;
use crate::input;
use crate::shape::Shape;
use crate::terminal;

/// A conversion of tools and results.
pub(crate) trait Reshape {
    /// Converts a tool. Also returns the form of its output.
    fn tool(&self, tool: &Value) -> Result<(Value, Form), ProjectError>;

    /// Converts a result of a tool whose output has this form.
    fn result(&self, result: &Value, form: Form) -> Result<Value, ProjectError>;
}

/// Parses a revision. Warns if it is unknown, which is probably a typing error; an unknown one counts as legacy.
pub(crate) fn parse_revision(name: &str) -> Revision {
    let revision = Revision::from(name);
    if !revision.is_natural() && !Revision::PUBLISHED.contains(&revision) {
        let known = Revision::PUBLISHED.map(|revision| revision.to_string()).join(", ");
        terminal::print_warning(&format!(
            "unknown revision `{name}` is treated as one before 2026-07-28; known revisions are {known}"
        ));
    }
    revision
}

/// Converts `document` and writes it to standard output. `tool` is the file of the tool if the document is a result.
pub(crate) fn run(
    document: &Path,
    tool: Option<&Path>,
    reshape: &impl Reshape,
) -> anyhow::Result<Exit> {
    if document.as_os_str() == "-" && tool.is_some_and(|tool| tool.as_os_str() == "-") {
        bail!("`-` appears more than once; standard input can be read only once");
    }
    let name = document.display();
    let mut value = input::read_value(document)?;
    let mut exit = Exit::Clean;
    match (Shape::find(&mut value), tool) {
        (Some(Shape::Tools(tools)), None) => {
            tools.retain_mut(|tool| reshape_tool(tool, reshape, &mut exit).is_some());
        }
        (Some(Shape::Tool(tool)), None) => drop(reshape_tool(tool, reshape, &mut exit)),
        (Some(Shape::Result(result)), tool) => {
            let form = match tool {
                Some(path) => read_form(path, reshape, &mut exit)?,
                None => Form::Undeclared,
            };
            *result = reshape.result(result, form).with_context(|| name.to_string())?;
        }
        (Some(_), Some(_)) => bail!("{name}: contains tools; `--tool` is for the result of a call"),
        (None, _) => bail!("{name}: expected tools or the result of a call, found neither"),
    }
    writeln!(io::stdout().lock(), "{value:#}")?;
    Ok(exit)
}

/// Converts `tool` in place. If its output schema cannot be converted, the schema is removed. Returns `None` if the
/// value is not a tool.
fn reshape_tool(tool: &mut Value, reshape: &impl Reshape, exit: &mut Exit) -> Option<Form> {
    let error = match reshape.tool(tool) {
        Ok((shaped, form)) => {
            *tool = shaped;
            return Some(form);
        }
        Err(error) => error,
    };
    *exit = Exit::Findings;
    let name = tool.get("name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    let without = tool.as_object_mut().and_then(|members| members.shift_remove("outputSchema"));
    let action = if without.is_some() { "its output schema is left out" } else { "left out" };
    terminal::print_error(&anyhow!("tool {name}: {error}; {action}"));
    without.map(|_| Form::Undeclared)
}

/// Reads the tool at `path` and returns the form of its output.
fn read_form(path: &Path, reshape: &impl Reshape, exit: &mut Exit) -> anyhow::Result<Form> {
    let name = path.display();
    let mut value = input::read_value(path)?;
    match Shape::find(&mut value) {
        Some(Shape::Tool(tool)) => Ok(reshape_tool(tool, reshape, exit).unwrap_or_default()),
        _ => bail!("{name}: expected one tool"),
    }
}
