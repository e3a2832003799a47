//! `toolbond check`: validates values against a schema.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use toolbond_schema::{Limits, Options, Schema, Verdict};

use crate::exit::Exit;
use crate::format::Format;
use crate::input::Source;
use crate::report::Report;
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolbond check weather.schema.json call.json
  toolbond check weather.schema.json                     check the schema itself
  toolbond check --schema s.yaml calls.jsonl --format concise
  cat call.json | toolbond check --schema s.json - --fuel 100000

Exit code 0: all values are valid; 1: a value is invalid or unfinished, or the schema is refused; 2: wrong usage or unreadable input.";

/// Validate values against a schema, or check the schema itself.
///
/// Values are files, or `-` for standard input: JSON, YAML (`.yaml`, `.yml`) or JSON Lines (`.jsonl`,
/// `.ndjson`). A file has at most 16 MiB and 127 nested levels (YAML: 64).
///
/// `$schema` selects the dialect; 2020-12 is the default. References to other documents are refused;
/// `toolbond bundle` embeds these documents.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The schema: a JSON or YAML file, or `-` for standard input. Without this option it is the first FILE
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// The schema, unless `--schema` names it, and the values to validate; without any, only the schema is
    /// checked
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    files: Vec<PathBuf>,

    /// How results are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Validate `format`, which is an annotation otherwise
    #[arg(long)]
    assert_formats: bool,

    /// Set a limit, for example `--limit depth=32`; may be repeated. Names: depth, subschemas, bytes,
    /// copied-bytes, pattern-bytes, pattern-states, expansion, scopes, instance-depth, nesting,
    /// violations, fuel
    #[arg(long = "limit", value_name = "NAME=N", value_parser = parse_limit)]
    limits: Vec<(String, u64)>,

    /// Set the steps that one validation may take; the same as `--limit fuel=N`
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let mut files = self.schema.iter().chain(&self.files);
        if files.clone().filter(|path| path.as_os_str() == "-").count() > 1 {
            anyhow::bail!("`-` appears more than once; standard input can be read only once");
        }
        let mut report = Report::new(self.format, anstream::stdout().lock());
        let schema = files.next().context("no schema")?;
        let source = Source::read(schema)?;
        let document = source.document()?;
        let schema = match self.options().compile(&document.value) {
            Ok(schema) => schema,
            Err(error) => {
                report.write_refused(&document, &error)?;
                return Ok(Exit::Findings);
            }
        };
        if files.clone().next().is_none() {
            report.write_admitted(&document, &schema)?;
            return Ok(Exit::Clean);
        }
        let mut tally = Tally::default();
        for path in files {
            match Source::read(path) {
                Ok(source) => tally.check(&schema, &source, &mut report)?,
                Err(error) => tally.fail(&error),
            }
        }
        if self.format == Format::Full {
            tally.print()?;
        }
        Ok(tally.exit())
    }

    fn options(&self) -> Options {
        let mut limits = Limits::default();
        let fuel = self.fuel.map(|fuel| ("fuel".to_owned(), fuel));
        for (name, n) in self.limits.iter().chain(&fuel) {
            // The command line parser has checked the names.
            let _ = limits.set(name, *n);
        }
        Schema::options().limits(limits).assert_formats(self.assert_formats)
    }
}

/// Counts of verdicts.
#[derive(Default)]
struct Tally {
    valid: usize,
    invalid: usize,
    unfinished: usize,
    unreadable: usize,
}

impl Tally {
    fn check<W: io::Write>(
        &mut self,
        schema: &Schema,
        source: &Source,
        report: &mut Report<W>,
    ) -> io::Result<()> {
        for document in source.documents() {
            match document {
                Ok(document) => {
                    let measured = schema.measure(&document.value);
                    match &measured.verdict {
                        Verdict::Valid => self.valid += 1,
                        Verdict::Invalid(_) => self.invalid += 1,
                        Verdict::Unfinished(_) => self.unfinished += 1,
                    }
                    report.write_verdict(&document, &measured)?;
                }
                Err(error) => self.fail(&error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: &anyhow::Error) {
        self.unreadable += 1;
        terminal::print_error(error);
    }

    /// Prints the counts if there is more than one value.
    fn print(&self) -> io::Result<()> {
        let parts = [
            (self.valid, "valid"),
            (self.invalid, "invalid"),
            (self.unfinished, "unfinished"),
            (self.unreadable, "unreadable"),
        ];
        if parts.iter().map(|(count, _)| count).sum::<usize>() < 2 {
            return Ok(());
        }
        let parts: Vec<_> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        writeln!(anstream::stderr().lock(), "{}", parts.join(", "))
    }

    const fn exit(&self) -> Exit {
        if self.unreadable > 0 {
            Exit::Failed
        } else if self.invalid + self.unfinished > 0 {
            Exit::Findings
        } else {
            Exit::Clean
        }
    }
}

/// Parses `NAME=N`.
pub(crate) fn parse_limit(text: &str) -> Result<(String, u64), String> {
    let (name, n) = text.split_once('=').ok_or("expected NAME=N")?;
    if !Limits::NAMES.contains(&name) {
        return Err(format!(
            "unknown limit `{name}`, expected one of {}",
            Limits::NAMES.join(", ")
        ));
    }
    let n = n.parse().map_err(|_| format!("expected a whole number, found `{n}`"))?;
    Ok((name.to_owned(), n))
}
