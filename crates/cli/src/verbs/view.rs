//! `toolbond view`: gives tools the form that a target accepts.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::Value;
use toolbond_contract::{JudgeOptions, Policy, judge_tools, rules::TOOL_LIST};
use toolbond_guard::live::Calls;
use toolbond_targets::{target, view_tools};

use crate::exit::Exit;
use crate::input;
use crate::live::{self, LiveOptions};
use crate::shape::Shape;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolbond view --for gemini tools.json > gemini.json
  toolbond view --for openai-strict -- npx -y @modelcontextprotocol/server-everything
  toolbond guard --for gemini -- COMMAND           hand the tools out in this form

Exit code 0: all tools have a view; 1: tools were left out; 2: wrong usage or unreadable input.";

/// Write tools in a form that a target accepts.
///
/// The form accepts what the tool accepts. The list goes to standard output, what changed to standard
/// error. Tools that no client can use are repaired or left out first, as the guard does.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct View {
    /// The target: a name that `toolbond targets` lists
    #[arg(long = "for", value_name = "TARGET")]
    target: String,

    /// The tools: a JSON or YAML file, `-` for standard input, or the URL of a live server
    #[arg(value_name = "FILE|URL", default_value = "-", conflicts_with = "command")]
    list: PathBuf,

    /// A server on standard input and output, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    live: LiveOptions,
}

impl View {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let target = target(&self.target)?;
        let (name, list) = self.read()?;
        let judged = judge_tools(list, &JudgeOptions::default().policy(Policy::Repair));
        let mut exit = Exit::Clean;
        for finding in judged.errors() {
            if finding.rule == TOOL_LIST.id {
                bail!("{name}: {}: {}", finding.pointer, finding.message);
            }
            terminal::print_warning(&finding.to_string());
            exit = Exit::Findings;
        }
        let Some(mut list) = judged.list else { return Ok(Exit::Findings) };
        match Shape::find(&mut list) {
            Some(Shape::Tools(tools)) => {
                let views = view_tools(tools, target);
                *tools = views.into_iter().map(say_changes).collect();
            }
            _ => {
                let mut views = view_tools(std::slice::from_ref(&list), target);
                if let Some(view) = views.pop() {
                    list = say_changes(view);
                }
            }
        }
        writeln!(io::stdout().lock(), "{}", terminal::printable_json(&format!("{list:#}")))?;
        Ok(exit)
    }

    fn read(&self) -> anyhow::Result<(String, Value)> {
        if !self.command.is_empty() {
            let document = self.live.fetch_from_command(&self.command, &Calls::default())?;
            return Ok((document.name, document.value));
        }
        if let Some(url) = live::as_url(&self.list) {
            return Ok((url.to_owned(), self.live.fetch_from_url(url, &Calls::default())?.value));
        }
        let is_stdin = self.list == Path::new("-");
        let name = if is_stdin { "stdin".to_owned() } else { self.list.display().to_string() };
        Ok((name, input::read_value(&self.list)?))
    }
}

/// Says what `view` leaves out or writes in another way, and returns its tool.
fn say_changes(view: toolbond_targets::View) -> Value {
    if !view.is_unchanged() {
        terminal::print_note(&format!(
            "{}: changed or left out: {}",
            view.name,
            view.report.join("; ")
        ));
    }
    view.tool
}
