//! `toolbond lint`: checks tool lists, and says what becomes of each tool at each target.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::de::IgnoredAny;

use toolbond_guard::live::Calls;

use crate::diff::write_diff;
use crate::exit::Exit;
use crate::input::{Document, Source, Syntax};
use crate::lint::{
    Baseline, CallOptions, Detail, Fixed, Input, LintFormat, Linter, Report, Settings,
    SettingsArgs, expand, fix_source, is_tool_list, note_skipped, plural, write_back,
};
use crate::live::{self, LiveOptions};
use crate::secrets::Secrets;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolbond lint tools.json
  toolbond lint schemas/                           all tool lists in a folder
  toolbond lint -- npx -y @modelcontextprotocol/server-everything
  toolbond lint https://tools.example/mcp --header 'Authorization: Bearer …'
  toolbond lint --target gemini,openai-strict tools.json
  toolbond lint --call 'search={\"query\":\"x\"}' -- node server.js
  toolbond lint --fix tools.json                   rewrite what has one right form
  toolbond lint --diff tools.json                  show what that would change
  toolbond lint --statistics schemas/              how often each rule is broken
  toolbond lint --format sarif tools.json > lint.sarif
  toolbond lint --baseline known.json --write-baseline tools.json
  toolbond explain external-ref                    explain a rule
  toolbond targets gemini                          what a target accepts

Exit code 0: nothing that `--fail-on` names; 1: findings; 2: wrong usage or unreadable input.";

/// Check tool lists: against the protocol, good practice, and what model APIs and hosts do to tools.
///
/// A list is a `tools/list` result, a JSON-RPC response with one, an array of tools, or one tool. A
/// finding names the rule and the place, and what each target does: the request fails, the tool is left
/// out, valid calls fail, a constraint is lost, or the model sees less.
///
/// A folder stands for the tool lists in it. A URL is a live server on Streamable HTTP. A COMMAND is a
/// live server on standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lint {
    /// The lists: JSON or YAML files, folders, `-` for standard input, or URLs of live servers
    #[arg(value_name = "FILE|DIR|URL", default_value = "-", conflicts_with = "command")]
    lists: Vec<PathBuf>,

    /// A server on standard input and output, with its arguments, whose tools are checked
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    writing: Writing,

    /// Rewrite files where that does not change what a schema accepts. The rest of a file stays byte for
    /// byte. A list on standard input is written to standard output
    #[arg(long, conflicts_with = "kept")]
    fix: bool,

    /// Show what `--fix` would change, as a patch, and change nothing. Exit code 1 if it would change
    /// something
    #[arg(long, conflicts_with_all = ["kept", "write_baseline", "statistics"])]
    diff: bool,

    /// Create or update the file of `--baseline` with the findings that fail the check
    #[arg(long)]
    write_baseline: bool,

    #[command(flatten)]
    live: LiveOptions,

    #[command(flatten)]
    calls: CallOptions,
}

/// What is written, and how.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
struct Writing {
    /// How findings are written
    #[arg(long, value_enum, default_value_t)]
    format: LintFormat,

    /// Write what formats for people leave out: infos, and all places of a rule
    #[arg(long, conflicts_with = "quiet")]
    verbose: bool,

    /// Write only what fails the check, and nothing if nothing does
    #[arg(long, short)]
    quiet: bool,

    /// Write how often each rule is broken, in place of the findings
    #[arg(long, conflicts_with = "format")]
    statistics: bool,

    /// Write the lists with the tools that are kept to standard output, and findings to standard error
    #[arg(long)]
    kept: bool,
}

/// What becomes of safe fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fixes {
    None,
    Shown,
    Written,
}

/// What a run has come to.
struct Run<'a> {
    linter: Linter<'a>,
    report: Report,
    skipped: Vec<String>,
    fixed: Vec<(String, Fixed)>,
    /// How many files `--fix` would change.
    differ: usize,
    fixes: Fixes,
    is_quiet: bool,
    exit: Exit,
}

impl Lint {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        if self.lists.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            bail!("`-` appears more than once; standard input can be read only once");
        }
        let settings = self.settings.settings()?;
        if self.write_baseline && settings.baseline.is_none() {
            bail!("--write-baseline needs --baseline FILE, or `baseline` in `[lint]`");
        }
        let is_live = |path: &PathBuf| live::as_url(path).is_some();
        let calls = self.calls.calls();
        if !calls.calls.is_empty() && self.command.is_empty() && !self.lists.iter().all(is_live) {
            bail!("--call is for live servers: a URL, or `-- COMMAND`");
        }
        let fixes = match (self.diff, self.fix) {
            (true, _) => Fixes::Shown,
            (false, true) => Fixes::Written,
            (false, false) => Fixes::None,
        };
        let mut run = Run::new(&settings, &self.writing, fixes);
        if self.command.is_empty() {
            for input in expand(&self.lists) {
                if let Err(error) = input.and_then(|input| run.lint(input, &self.live, &calls)) {
                    if live::is_interrupted(&error) {
                        return Err(error);
                    }
                    terminal::print_error(&error);
                    run.exit = Exit::Failed;
                }
            }
        } else if fixes != Fixes::None {
            bail!("--fix changes files, not live servers");
        } else {
            let document = self.live.fetch_from_command(&self.command, &calls)?;
            run.report.lists.push(run.linter.lint(document)?);
        }
        if !run.is_quiet {
            note_skipped(&run.skipped);
        }
        if fixes == Fixes::Shown {
            let exit = if run.differ > 0 { Exit::Findings } else { Exit::Clean };
            return Ok(exit.max(run.exit));
        }
        let uses_stdout =
            self.writing.kept || (self.fix && self.lists.iter().any(|p| p.as_os_str() == "-"));
        run.finish(&settings, self.writing.format, self.write_baseline, uses_stdout)
    }
}

/// Adds a hint to `error` if `path` looks like a command: it has no folder and no extension.
fn with_command_hint(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let is_word = path.components().count() == 1 && path.extension().is_none();
    if !is_word || path.as_os_str() == "-" || path.exists() {
        return error;
    }
    anyhow::anyhow!(
        "{error:#} (a command stands after `--`: toolbond lint -- {} …)",
        path.display()
    )
}

impl<'a> Run<'a> {
    fn new(settings: &'a Settings, writing: &Writing, fixes: Fixes) -> Self {
        let detail = match (writing.quiet, writing.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        };
        let report = Report {
            targets: settings.targets.clone(),
            fail_on: settings.fail_on,
            detail,
            statistics: writing.statistics,
            has_baseline: settings.baseline.is_some(),
            ..Report::default()
        };
        Self {
            linter: Linter { options: &settings.options, keeps_list: writing.kept },
            report,
            skipped: Vec::new(),
            fixed: Vec::new(),
            differ: 0,
            fixes,
            is_quiet: writing.quiet,
            exit: Exit::Clean,
        }
    }

    /// Checks one input.
    fn lint(&mut self, input: Input, live: &LiveOptions, calls: &Calls) -> anyhow::Result<()> {
        match input {
            Input::Url(url) if self.fixes != Fixes::None => {
                bail!("{url}: --fix changes files, not live servers")
            }
            Input::Url(url) => {
                let document = live.fetch_from_url(&url, calls)?;
                self.report.lists.push(self.linter.lint(document)?);
            }
            Input::File(path) => {
                let source =
                    Source::read(&path).map_err(|error| with_command_hint(error, &path))?;
                self.lint_source(source, &path)?;
            }
            Input::InFolder(path) => {
                let name = path.display().to_string();
                match Source::read(&path).ok().filter(holds_tool_lists) {
                    Some(source) => self.lint_source(source, &path)?,
                    None => self.skipped.push(name),
                }
            }
        }
        Ok(())
    }

    fn lint_source(&mut self, mut source: Source, path: &Path) -> anyhow::Result<()> {
        if self.fixes != Fixes::None {
            let before = source.text.clone();
            let applied = fix_source(&mut source, &self.linter)?;
            if self.fixes == Fixes::Shown {
                self.differ += usize::from(source.text != before);
                return Ok(write_diff(&source.name, &before, &source.text, &Secrets::default())?);
            }
            if source.syntax == Syntax::Guess {
                write!(io::stdout().lock(), "{}", source.text)?;
            } else if source.text != before {
                write_back(&source, path)?;
            }
            // Only now it is true.
            self.fixed.extend(applied.into_iter().map(|one| (source.name.clone(), one)));
        }
        if matches!(source.syntax, Syntax::Json | Syntax::JsonLines) {
            self.report.fixable.push(source.name.clone());
        }
        for document in source.documents() {
            let linted = document
                .map_err(|error| with_hint(error, &source))
                .and_then(|d| self.linter.lint(d));
            match linted {
                Ok(list) => self.report.lists.push(list),
                Err(error) => {
                    terminal::print_error(&error);
                    self.exit = Exit::Failed;
                }
            }
        }
        Ok(())
    }

    /// Compares with the baseline and writes the report.
    fn finish(
        mut self,
        settings: &Settings,
        format: LintFormat,
        writes_baseline: bool,
        uses_stdout: bool,
    ) -> anyhow::Result<Exit> {
        match &settings.baseline {
            // Without all lists, known findings would be missing in it.
            Some(_) if writes_baseline && self.exit == Exit::Failed => {}
            Some(path) if writes_baseline => write_baseline(&self.report, path)?,
            Some(path) => self.report.apply(Baseline::read(path)?),
            None => {}
        }
        self.say_fixed();
        if !format.has_stale_entries() {
            for line in self.report.stale_lines() {
                terminal::print_error(&anyhow::anyhow!("{line}"));
            }
        }
        if self.report.lists.is_empty() && self.exit == Exit::Failed {
            return Ok(Exit::Failed);
        }
        if uses_stdout {
            format.write(&self.report, &mut anstream::stderr().lock())?;
            for list in self.report.lists.iter().filter_map(|list| list.list.as_ref()) {
                writeln!(io::stdout().lock(), "{list:#}")?;
            }
        } else if format.is_for_programs() {
            format.write(&self.report, &mut io::BufWriter::new(io::stdout().lock()))?;
        } else {
            format.write(&self.report, &mut anstream::stdout().lock())?;
        }
        let exit = if writes_baseline { Exit::Clean } else { self.report.exit() };
        Ok(exit.max(self.exit))
    }

    fn say_fixed(&self) {
        if self.is_quiet {
            return;
        }
        for (name, Fixed { rule, tool, title }) in &self.fixed {
            terminal::print_fixed(&format!("{name}: {tool}: {title} ({rule})"));
        }
    }
}

fn write_baseline(report: &Report, path: &Path) -> anyhow::Result<()> {
    let baseline = Baseline::of(report);
    baseline.write(path)?;
    let count = plural(baseline.findings.len(), "known finding");
    terminal::print_note(&format!(
        "{}: wrote {count}; `--write-baseline` updates them",
        path.display()
    ));
    Ok(())
}

/// Whether each value of `source` is a tool list.
fn holds_tool_lists(source: &Source) -> bool {
    let is_list = |document: anyhow::Result<Document<'_>>| {
        document.is_ok_and(|document| is_tool_list(&document.value))
    };
    source.documents().all(is_list)
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
