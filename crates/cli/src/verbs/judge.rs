//! `toolpact judge`: tool lists, each tool alone.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::de::IgnoredAny;
use toolpact_contract::{JudgeOptions, Policy, Severity, judge_tools};

use crate::exit::Outcome;
use crate::input::{Document, Source, Syntax};
use crate::live::{self, Remote};
use crate::table::{Findings, Format, Sums};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolpact judge tools.json
  my-server-tools | toolpact judge --format json
  toolpact judge --policy repair --kept tools.json > repaired.json
  toolpact judge -- npx -y @modelcontextprotocol/server-everything
  toolpact judge https://tools.example/mcp --header 'Authorization: Bearer …'
  toolpact explain exclusive-bound                 what a rule is about

Exit code 0: nothing worse than `info`; 1: warnings or errors; 2: wrong usage or unreadable input.";

/// Judge the tools of a list, each alone.
///
/// A list is a `tools/list` result, a JSON-RPC response that holds one, an array of tools, or one tool.
/// For each tool that a client could not use, and for each part of one, there is a finding that says which
/// rule, where, and what becomes of it.
///
/// A URL is that of a live server on Streamable HTTP, which is asked for all its tools.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Judge {
    /// The lists: JSON or YAML files (`-` for standard input), or URLs of live servers
    #[arg(value_name = "FILE|URL", default_value = "-", conflicts_with = "command")]
    lists: Vec<PathBuf>,

    /// A server on standard input and output, and its arguments: the tools that it lists are judged
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    remote: Remote,

    /// What becomes of a tool that cannot be used: `filter` drops it, `repair` mends what can be
    /// mended without changing its meaning, `reject` refuses the list
    #[arg(long, default_value_t, value_name = "POLICY")]
    policy: Policy,

    /// Take a wrong `x-mcp-header` annotation for a warning, as clients on other transports than
    /// HTTP may
    #[arg(long)]
    ignore_headers: bool,

    /// Write the lists as they are after judgement to standard output, and findings to standard error
    #[arg(long)]
    kept: bool,

    /// How findings are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Judge {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        if self.lists.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            anyhow::bail!("`-` is given more than once, standard input can be read only once");
        }
        let options =
            JudgeOptions::default().policy(self.policy).ignore_headers(self.ignore_headers);
        if !self.command.is_empty() {
            let document = live::tools(&self.command)?;
            return Ok(self.judge(document, &options, &mut Sums::default())?);
        }
        let mut outcome = Outcome::Clean;
        let mut sums = Sums::default();
        for path in &self.lists {
            if let Some(url) = live::url(path) {
                outcome = outcome.max(match self.remote.tools(url) {
                    Ok(document) => self.judge(document, &options, &mut sums)?,
                    Err(error) => {
                        terminal::complain(&error);
                        Outcome::Failed
                    }
                });
                continue;
            }
            let source = match Source::read(path) {
                Ok(source) => source,
                Err(error) => {
                    terminal::complain(&error);
                    outcome = Outcome::Failed;
                    continue;
                }
            };
            for document in source.documents() {
                outcome = outcome.max(match document {
                    Ok(document) => self.judge(document, &options, &mut sums)?,
                    Err(error) => {
                        terminal::complain(&with_hint(error, &source));
                        Outcome::Failed
                    }
                });
            }
        }
        if self.format == Format::Full {
            sums.tell(&mut anstream::stderr().lock())?;
        }
        Ok(outcome)
    }

    fn judge(
        &self,
        mut document: Document<'_>,
        options: &JudgeOptions,
        sums: &mut Sums,
    ) -> io::Result<Outcome> {
        let judged = judge_tools(document.value.take(), options);
        let findings = Findings::of(&document, &judged);
        sums.add(&judged);
        if self.kept {
            match self.format {
                Format::Json => line(&findings, io::stderr().lock())?,
                _ => self.tell(&findings, &mut anstream::stderr().lock())?,
            }
            if let Some(list) = &judged.list {
                writeln!(io::stdout().lock(), "{list:#}")?;
            }
        } else {
            match self.format {
                Format::Json => line(&findings, io::stdout().lock())?,
                _ => self.tell(&findings, &mut anstream::stdout().lock())?,
            }
        }
        let worst = judged.findings.iter().map(|finding| finding.severity).max();
        Ok(if worst > Some(Severity::Info) { Outcome::Findings } else { Outcome::Clean })
    }

    fn tell(&self, findings: &Findings<'_>, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            Format::Concise => findings.lines(out),
            _ => findings.table(out),
        }
    }
}

/// `error` with what to do about it where the source has one JSON value a line and does not say so.
fn with_hint(error: anyhow::Error, source: &Source) -> anyhow::Error {
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    let mut lines = source.text.lines().filter(|line| !line.trim().is_empty());
    let has_lines = lines.by_ref().take(2).filter(|line| is_json(line)).count() == 2;
    if source.syntax == Syntax::JsonLines || !has_lines {
        return error;
    }
    anyhow::anyhow!("{error:#} (one value a line is read from a file whose name ends in .jsonl)")
}

/// JSON has no colours to strip, and can be long: it goes out in one piece.
fn line(findings: &Findings<'_>, mut out: impl Write) -> io::Result<()> {
    out.write_all(format!("{}\n", findings.json()).as_bytes())
}
