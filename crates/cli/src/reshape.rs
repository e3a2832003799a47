//! Writing a document again with its tools or its result in another shape.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;
use toolpact_contract::{Form, ProjectError, Revision};

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

/// The revision called `name`; one that is not known is legacy, and probably a slip.
pub(crate) fn revision(name: &str) -> Revision {
    let revision = Revision::from(name);
    if !revision.is_natural() && !Revision::PUBLISHED.contains(&revision) {
        let known = Revision::PUBLISHED.map(|revision| revision.to_string()).join(", ");
        terminal::warn(&format!(
            "no revision `{name}` is known, taken for one before 2026-07-28; known are {known}"
        ));
    }
    revision
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
            tools.retain_mut(|tool| each(tool, reshape, &mut outcome).is_some());
        }
        (Some(Shape::Tool(tool)), None) => drop(each(tool, reshape, &mut outcome)),
        (Some(Shape::Result(result)), tool) => {
            let form = match tool {
                Some(path) => form(path, reshape, &mut outcome)?,
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

/// Gives `tool` the other shape. One whose output schema cannot get it goes without that schema; `None`
/// for what is no tool at all.
fn each(tool: &mut Value, reshape: &impl Reshape, outcome: &mut Outcome) -> Option<Form> {
    let error = match reshape.tool(tool) {
        Ok((shaped, form)) => {
            *tool = shaped;
            return Some(form);
        }
        Err(error) => error,
    };
    *outcome = Outcome::Findings;
    let name = tool.get("name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    let without = tool.as_object_mut().and_then(|members| members.shift_remove("outputSchema"));
    let left_out = if without.is_some() { "its output schema is left out" } else { "left out" };
    terminal::complain(&anyhow!("tool {name}: {error}; {left_out}"));
    without.map(|_| Form::Undeclared)
}

fn form(path: &Path, reshape: &impl Reshape, outcome: &mut Outcome) -> anyhow::Result<Form> {
    let name = path.display();
    let mut value = input::value(path)?;
    match Shape::of(&mut value) {
        Some(Shape::Tool(tool)) => Ok(each(tool, reshape, outcome).unwrap_or_default()),
        _ => bail!("{name}: expected one tool"),
    }
}
