//! `toolpact judge`: checks tool lists, each tool on its own.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use serde::de::IgnoredAny;
use toolpact_contract::{JudgeOptions, Policy, Severity, judge_tools};

use crate::exit::Exit;
use crate::format::Format;
use crate::input::{Document, Source, Syntax};
use crate::live::{self, HttpOptions};
use crate::table::{Findings, Totals};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolpact judge tools.json
  my-server-tools | toolpact judge --format json
  toolpact judge --policy repair --kept tools.json > repaired.json
  toolpact judge --ignore tool-name-form tools.json
  toolpact judge -- npx -y @modelcontextprotocol/server-everything
  toolpact judge https://tools.example/mcp --header 'Authorization: Bearer …'
  toolpact explain exclusive-bound                 explain a rule

Exit code 0: nothing worse than `info`; 1: warnings or errors; 2: wrong usage or unreadable input.";

/// Check the tools of a list, each on its own.
///
/// A list is a `tools/list` result, a JSON-RPC response with one, an array of tools, or one tool. Each
/// problem that keeps a client from using a tool, or a part of it, is a finding: it names the rule and the
/// place, and says what is done about it.
///
/// A URL is a live server on Streamable HTTP. A COMMAND is a live server on standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Judge {
    /// The lists: JSON or YAML files, `-` for standard input, or URLs of live servers
    #[arg(value_name = "FILE|URL", default_value = "-", conflicts_with = "command")]
    lists: Vec<PathBuf>,

    /// A server on standard input and output, with its arguments, whose tools are checked
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    http: HttpOptions,

    /// What to do with a tool that cannot be used: `filter` drops it, `repair` repairs it if that does
    /// not change its meaning, `reject` refuses the list
    #[arg(long, default_value_t, value_name = "POLICY")]
    policy: Policy,

    /// Report a wrong `x-mcp-header` annotation as a warning only: clients that do not use HTTP may
    /// ignore it
    #[arg(long)]
    ignore_headers: bool,

    /// Report only the warnings and infos of this rule; may be repeated. Errors are always reported
    #[arg(long, value_name = "RULE")]
    select: Vec<String>,

    /// Do not report this rule; may be repeated. Errors cannot be ignored
    #[arg(long, value_name = "RULE")]
    ignore: Vec<String>,

    /// Write the lists with the tools that are kept to standard output, and findings to standard error
    #[arg(long)]
    kept: bool,

    /// How findings are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Judge {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        if self.lists.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            anyhow::bail!("`-` appears more than once; standard input can be read only once");
        }
        let mut options =
            JudgeOptions::default().policy(self.policy).ignore_headers(self.ignore_headers);
        for rule in &self.select {
            options = options.select(rule).context("--select")?;
        }
        for rule in &self.ignore {
            options = options.ignore(rule).context("--ignore")?;
        }
        if !self.command.is_empty() {
            let document = live::fetch_tools(&self.command)?;
            return Ok(self.judge(document, &options, &mut Totals::default())?);
        }
        let mut exit = Exit::Clean;
        let mut totals = Totals::default();
        for path in &self.lists {
            if let Some(url) = live::as_url(path) {
                exit = exit.max(match self.http.fetch_tools(url) {
                    Ok(document) => self.judge(document, &options, &mut totals)?,
                    Err(error) => {
                        terminal::print_error(&error);
                        Exit::Failed
                    }
                });
                continue;
            }
            let source = match Source::read(path) {
                Ok(source) => source,
                Err(error) => {
                    terminal::print_error(&error);
                    exit = Exit::Failed;
                    continue;
                }
            };
            for document in source.documents() {
                exit = exit.max(match document {
                    Ok(document) => self.judge(document, &options, &mut totals)?,
                    Err(error) => {
                        terminal::print_error(&with_hint(error, &source));
                        Exit::Failed
                    }
                });
            }
        }
        if self.format == Format::Full {
            totals.write(&mut anstream::stderr().lock())?;
        }
        Ok(exit)
    }

    fn judge(
        &self,
        mut document: Document<'_>,
        options: &JudgeOptions,
        totals: &mut Totals,
    ) -> io::Result<Exit> {
        let judged = judge_tools(document.value.take(), options);
        let findings = Findings::new(&document, &judged);
        totals.add(&judged);
        if self.kept {
            match self.format {
                Format::Json => write_json(&findings, io::stderr().lock())?,
                _ => self.write_text(&findings, &mut anstream::stderr().lock())?,
            }
            if let Some(list) = &judged.list {
                writeln!(io::stdout().lock(), "{list:#}")?;
            }
        } else {
            match self.format {
                Format::Json => write_json(&findings, io::stdout().lock())?,
                _ => self.write_text(&findings, &mut anstream::stdout().lock())?,
            }
        }
        let worst = judged.findings.iter().map(|finding| finding.severity).max();
        Ok(if worst > Some(Severity::Info) { Exit::Findings } else { Exit::Clean })
    }

    fn write_text(&self, findings: &Findings<'_>, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            Format::Concise => findings.write_lines(out),
            _ => findings.write_table(out),
        }
    }
}

/// Adds a hint to `error` if the source has one JSON value per line but another extension.
fn with_hint(error: anyhow::Error, source: &Source) -> anyhow::Error {
    let is_json = |line: &str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    let mut lines = source.text.lines().filter(|line| !line.trim().is_empty());
    let has_lines = lines.by_ref().take(2).filter(|line| is_json(line)).count() == 2;
    if source.syntax == Syntax::JsonLines || !has_lines {
        return error;
    }
    anyhow::anyhow!("{error:#} (for one value per line, use a file whose name ends in .jsonl)")
}

/// Writes JSON without a layer that strips colours, in one call: it can be long.
fn write_json(findings: &Findings<'_>, mut out: impl Write) -> io::Result<()> {
    out.write_all(format!("{}\n", findings.to_json()).as_bytes())
}
