//! Bundles the schemas of a document with what they refer to.

use std::borrow::Cow;

use anyhow::{anyhow, bail};
use serde_json::Value;
use toolbond_contract::ProjectError;
use toolbond_contract::bundle::{BundleErrorKind, flatten, flatten_tool};
use toolbond_fetch::{FetchError, Fetcher};
use toolbond_schema::Schema;

use crate::exit::Exit;
use crate::progress::{self, with_progress};
use crate::shape::Shape;
use crate::terminal;

/// Bundles the schemas of a document. What cannot be bundled is reported, and left as it is.
pub(crate) struct Bundler<'a> {
    pub(crate) fetcher: &'a Fetcher,
    /// The URI that relative references are relative to.
    pub(crate) base: Option<&'a str>,
    /// How documents are called in messages.
    pub(crate) name: &'a str,
    /// Whether references become pointers, without `$id`.
    pub(crate) is_flat: bool,
}

impl Bundler<'_> {
    /// Bundles the tools in `document`, or the schema that it is, in place.
    pub(crate) async fn bundle(&self, document: &mut Value) -> anyhow::Result<Exit> {
        let name = self.name;
        let is_schema = document.is_object() || document.is_boolean();
        let mut exit = Exit::Clean;
        match Shape::find(document) {
            Some(Shape::Tools(tools)) => {
                let count = tools.len();
                for (index, tool) in tools.iter_mut().enumerate() {
                    let text = format!("bundling tool {} of {count}", index + 1);
                    exit = exit.max(with_progress(&text, self.bundle_tool(tool)).await);
                }
            }
            Some(Shape::Tool(tool)) => {
                exit = with_progress("bundling the tool", self.bundle_tool(tool)).await;
            }
            Some(Shape::Result(_)) => {
                bail!("{name}: expected tools or a schema, found the result of a call")
            }
            None if !is_schema => bail!("{name}: expected tools or a schema, found neither"),
            None => match with_progress("bundling", self.bundle_schema(document)).await {
                Ok(bundled) => *document = bundled,
                Err(reason) => exit = report(&format!("{name}: {reason}")),
            },
        }
        Ok(exit)
    }

    async fn bundle_tool(&self, tool: &mut Value) -> Exit {
        let name = tool.get("name").and_then(Value::as_str);
        let name = name.unwrap_or("without a name").to_owned();
        let mut after = tool.clone();
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.get(member).filter(|schema| schema.is_object()) else {
                continue;
            };
            match self.fetch(schema).await {
                Ok(Cow::Borrowed(_)) => {}
                Ok(Cow::Owned(bundled)) => after[member] = bundled,
                Err(reason) => return report(&format!("tool {name}: {member}: {reason}")),
            }
        }
        if self.is_flat {
            let flat = flatten_tool(&after);
            for error in &flat.errors {
                warn(&format!("tool {name}"), error);
            }
            after = flat.tool.into_owned();
        }
        for member in ["inputSchema", "outputSchema"] {
            if let (Some(before), Some(after)) = (tool.get(member), after.get(member))
                && let Err(reason) = check(before, after)
            {
                return report(&format!("tool {name}: {member}: {reason}"));
            }
        }
        *tool = after;
        Exit::Clean
    }

    async fn bundle_schema(&self, schema: &Value) -> Result<Value, String> {
        let mut bundled = self.fetch(schema).await?;
        if self.is_flat {
            match flatten(&bundled) {
                Ok(Cow::Borrowed(_)) => {}
                Ok(Cow::Owned(flat)) => bundled = Cow::Owned(flat),
                Err(error) => warn(self.name, &error),
            }
        }
        check(schema, &bundled)?;
        Ok(bundled.into_owned())
    }

    /// Returns `schema` with what it refers to.
    async fn fetch<'s>(&self, schema: &'s Value) -> Result<Cow<'s, Value>, String> {
        self.fetcher.bundle(schema, self.base).await.map_err(|error| {
            let hint = hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{error}{hint}")
        })
    }
}

/// Refuses a new schema that cannot be used.
fn check(before: &Value, after: &Value) -> Result<(), String> {
    if before == after {
        return Ok(());
    }
    let compiled = Schema::compile(after);
    compiled.map(drop).map_err(|error| format!("the bundle cannot be used: {error}"))
}

/// Says why `name` has no flat form.
fn warn(name: &str, error: &ProjectError) {
    progress::clear();
    terminal::print_warning(&format!("{name}: no form without `$id`: {error}"));
}

fn report(text: &str) -> Exit {
    progress::clear();
    terminal::print_error(&anyhow!("{text}; left as it is"));
    Exit::Findings
}

/// What to do about `error`, in the words of the command line.
fn hint(error: &FetchError) -> Option<String> {
    if let Some(what) = error.to_allow() {
        return Some(format!("if you trust it, add `--allow {what}`"));
    }
    match error {
        FetchError::Bundle(error)
            if matches!(error.kind, BundleErrorKind::RelativeReference { .. }) =>
        {
            Some("or say with `--base URI` what it is relative to".to_owned())
        }
        error => error.hint(),
    }
}
