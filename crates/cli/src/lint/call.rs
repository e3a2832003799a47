//! Calls of a live server whose results are checked.

use std::str::FromStr;

use anyhow::{Context as _, bail};
use serde_json::Value;
use toolbond_contract::{Contract, Mode};
use toolbond_guard::live::Calls;
use toolbond_targets::{LintFinding, LintOptions};

use super::list::Reported;
use crate::terminal;

/// Options for calls of a live server.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Live servers")]
pub(crate) struct CallOptions {
    /// Call this tool of the live server, such as `--call 'search={"query":"x"}'`, and check the result against its
    /// output schema; may be repeated. A tool that does not say `readOnlyHint: true` is called only with `--yes`
    #[arg(long = "call", value_name = "TOOL=JSON", conflicts_with_all = ["fix", "diff"])]
    calls: Vec<Call>,

    /// Call tools that may change something, too
    #[arg(long, requires = "calls")]
    yes: bool,
}

/// A tool and its arguments.
#[derive(Clone, Debug)]
struct Call(String, Value);

impl FromStr for Call {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (tool, arguments) = text.split_once('=').context("expected TOOL=JSON, found no `=`")?;
        let arguments: Value = serde_json::from_str(arguments)
            .with_context(|| format!("the arguments of `{tool}` are not JSON"))?;
        if !arguments.is_object() {
            bail!("the arguments of `{tool}`: expected a JSON object");
        }
        Ok(Self(tool.to_owned(), arguments))
    }
}

impl CallOptions {
    /// The calls.
    pub(crate) fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        let pair = |Call(tool, arguments): &Call| (tool.clone(), arguments.clone());
        calls.calls = self.calls.iter().map(pair).collect();
        calls.allows_writing = self.yes;
        calls
    }
}

/// Checks `results`, each of a tool. `tools` has the names of all tools, and `contracts` those that can be used.
pub(super) fn check_results(
    results: &[(String, Value)],
    tools: &[String],
    contracts: &[Contract],
    options: &LintOptions,
) -> Vec<Reported> {
    let mut reported = Vec::new();
    for (name, result) in results {
        let contract = contracts.iter().find(|contract| contract.name() == name);
        if contract.is_none_or(|contract| contract.output().is_none()) {
            let text = format!("--call {name}: the tool has no output schema that can be checked");
            terminal::print_note(&text);
        }
        let Some(contract) = contract else { continue };
        for mut finding in contract.judge_result(result, Mode::Warn).findings {
            if let Some(found) = finding.found.take() {
                finding.message = format!("{}, found {found}", finding.message);
            }
            finding.index = tools.iter().position(|tool| tool == name);
            if options.includes(&finding) {
                reported.push(Reported::new(LintFinding::from(finding)));
            }
        }
    }
    reported
}
