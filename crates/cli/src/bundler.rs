//! Bundles the schemas of a document with what they refer to.

use std::borrow::Cow;

use anyhow::{anyhow, bail};
use serde_json::Value;
use toolpact_contract::bundle::BundleErrorKind;
use toolpact_fetch::{FetchError, Fetcher};
use toolpact_schema::Schema;

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
                Ok(Some(bundled)) => *document = bundled,
                Ok(None) => {}
                Err(reason) => exit = report(&format!("{name}: {reason}")),
            },
        }
        Ok(exit)
    }

    async fn bundle_tool(&self, tool: &mut Value) -> Exit {
        let mut changes = Vec::new();
        for member in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.get(member).filter(|schema| schema.is_object()) else {
                continue;
            };
            match self.bundle_schema(schema).await {
                Ok(bundled) => changes.extend(bundled.map(|schema| (member, schema))),
                Err(reason) => {
                    let name = tool.get("name").and_then(Value::as_str);
                    let name = name.unwrap_or("without a name");
                    return report(&format!("tool {name}: {member}: {reason}"));
                }
            }
        }
        for (member, schema) in changes {
            tool[member] = schema;
        }
        Exit::Clean
    }

    /// Returns `schema` with what it refers to; `None` if it refers to nothing outside itself.
    async fn bundle_schema(&self, schema: &Value) -> Result<Option<Value>, String> {
        let bundled = match self.fetcher.bundle(schema, self.base).await {
            Ok(Cow::Borrowed(_)) => return Ok(None),
            Ok(Cow::Owned(bundled)) => bundled,
            Err(error) => {
                let hint = hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
                return Err(format!("{error}{hint}"));
            }
        };
        match Schema::compile(&bundled) {
            Ok(_) => Ok(Some(bundled)),
            Err(error) => Err(format!("the bundle cannot be used: {error}")),
        }
    }
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
