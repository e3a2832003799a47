//! `toolpact check`: values against a schema.

use std::io::{self, Write as _};
use std::path::PathBuf;

use toolpact_schema::{Limits, Options, Schema, Verdict};

use crate::exit::Outcome;
use crate::input::Source;
use crate::report::{Format, Report};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  toolpact check --schema weather.schema.json call.json
  toolpact check --schema weather.schema.json            the schema itself
  toolpact check --schema s.yaml calls.jsonl --format concise
  cat call.json | toolpact check --schema s.json - --fuel 100000

Exit code 0: all valid; 1: something invalid, unfinished or refused; 2: wrong usage or unreadable input.";

/// Check values against a schema, or the schema itself.
///
/// Values are files, or `-` for standard input: JSON, YAML (`.yaml`, `.yml`) or one JSON value a line
/// (`.jsonl`, `.ndjson`). A file may have 16 MiB and 127 nested levels (YAML: 64).
///
/// The dialect is the one named by `$schema`, else 2020-12. References may not leave the schema: nothing is ever fetched.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The schema, a JSON or YAML file (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,

    /// The values to check; none checks the schema alone
    #[arg(value_name = "INSTANCE")]
    instances: Vec<PathBuf>,

    /// How results are written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Check `format` too, instead of taking it for an annotation
    #[arg(long)]
    assert_formats: bool,

    /// Set a limit, as in `--limit depth=32`; may be repeated. Names: depth, subschemas, bytes,
    /// copied-bytes, pattern-bytes, pattern-states, expansion, scopes, instance-depth, nesting,
    /// violations, fuel
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    limits: Vec<(String, u64)>,

    /// The steps one validation may take; the same as `--limit fuel=N`
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let stdin = |path: &PathBuf| usize::from(path.as_os_str() == "-");
        if stdin(&self.schema) + self.instances.iter().map(stdin).sum::<usize>() > 1 {
            anyhow::bail!("`-` is given more than once, standard input can be read only once");
        }
        let mut report = Report::new(self.format, anstream::stdout().lock());
        let source = Source::read(&self.schema)?;
        let document = source.document()?;
        let schema = match self.options().compile(&document.value) {
            Ok(schema) => schema,
            Err(error) => {
                report.refused(&document, &error)?;
                return Ok(Outcome::Findings);
            }
        };
        if self.instances.is_empty() {
            report.admitted(&document, &schema)?;
            return Ok(Outcome::Clean);
        }
        let mut tally = Tally::default();
        for path in &self.instances {
            match Source::read(path) {
                Ok(source) => tally.check(&schema, &source, &mut report)?,
                Err(error) => tally.fail(&error),
            }
        }
        if self.format == Format::Full {
            tally.tell()?;
        }
        Ok(tally.outcome())
    }

    fn options(&self) -> Options {
        let mut limits = Limits::default();
        let fuel = self.fuel.map(|fuel| ("fuel".to_owned(), fuel));
        for (name, n) in self.limits.iter().chain(&fuel) {
            // The names were checked when the command line was read.
            let _ = limits.set(name, *n);
        }
        Schema::options().limits(limits).assert_formats(self.assert_formats)
    }
}

/// How many of what.
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
                    report.verdict(&document, &measured)?;
                }
                Err(error) => self.fail(&error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, error: &anyhow::Error) {
        self.unreadable += 1;
        terminal::complain(error);
    }

    /// The sums, for people who checked more than one value.
    fn tell(&self) -> io::Result<()> {
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

    const fn outcome(&self) -> Outcome {
        if self.unreadable > 0 {
            Outcome::Failed
        } else if self.invalid + self.unfinished > 0 {
            Outcome::Findings
        } else {
            Outcome::Clean
        }
    }
}

/// Reads `NAME=N`.
pub(crate) fn limit(text: &str) -> Result<(String, u64), String> {
    let (name, n) = text.split_once('=').ok_or("expected NAME=N")?;
    if !Limits::NAMES.contains(&name) {
        return Err(format!("no limit `{name}`, expected one of {}", Limits::NAMES.join(", ")));
    }
    let n = n.parse().map_err(|_| format!("expected a whole number, found `{n}`"))?;
    Ok((name.to_owned(), n))
}
