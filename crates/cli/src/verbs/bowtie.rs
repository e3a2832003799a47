//! `toolbond bowtie`: answers Bowtie, a test harness for implementations of JSON Schema.

use std::io::{self, Write as _};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolbond_schema::{Dialect, Options, Schema, Verdict, metaschemas};

use crate::exit::Exit;
use crate::input;

const EXAMPLES: &str = r#"Example:
  toolbond bowtie <<'END'
  {"cmd": "start", "version": 1}
  {"cmd": "dialect", "dialect": "https://json-schema.org/draft/2020-12/schema"}
  {"cmd": "run", "seq": 1, "case": {"description": "", "schema": {"type": "string"},
    "tests": [{"description": "", "instance": 7}]}}
  {"cmd": "stop"}
  END
(each request on one line)"#;

/// Answer the Bowtie harness: JSON requests on standard input, answers on standard output.
///
/// Implements version 1 of the protocol for all five dialects. A case may refer to the documents of its
/// registry; nothing is fetched. A refused schema or an unfinished validation is an error, not a result.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bowtie {}

/// The requests of protocol version 1.
#[derive(Deserialize)]
#[serde(tag = "cmd", rename_all = "lowercase")]
enum Request {
    Start { version: u64 },
    Dialect { dialect: String },
    Run { seq: Value, case: Box<Case> },
    Stop,
}

/// A schema and the instances to validate.
#[derive(Deserialize)]
struct Case {
    schema: Value,
    #[serde(default)]
    registry: Option<Map<String, Value>>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    instance: Value,
}

impl Bowtie {
    #[expect(clippy::unused_self, reason = "every verb runs the same way")]
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let mut requests = io::stdin().lock();
        let mut answers = io::stdout().lock();
        let mut options = metaschemas().fold(Schema::options(), |options, (uri, schema)| {
            options.document(uri, schema.clone())
        });
        let mut started = false;
        while let Some(line) = input::read_line(&mut requests)? {
            if line.trim().is_empty() {
                continue;
            }
            let request = serde_json::from_str(&line).context("stdin: not a Bowtie request")?;
            let answer = match request {
                Request::Start { version: 1 } => {
                    started = true;
                    start()
                }
                Request::Start { version } => {
                    bail!("unknown protocol version {version}, expected 1")
                }
                Request::Stop => break,
                _ if !started => bail!("expected `start` before anything else"),
                Request::Dialect { dialect } => {
                    let known = Dialect::from_uri(&dialect);
                    if let Some(known) = known {
                        options = options.dialect(known);
                    }
                    json!({ "ok": known.is_some() })
                }
                Request::Run { seq, case } => run(&options, &seq, *case),
            };
            writeln!(answers, "{answer}")?;
            answers.flush()?;
        }
        Ok(Exit::Clean)
    }
}

fn start() -> Value {
    const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
    json!({
        "version": 1,
        "ready": true,
        "implementation": {
            "language": "rust",
            "name": "toolbond",
            "version": env!("CARGO_PKG_VERSION"),
            "homepage": REPOSITORY,
            "issues": format!("{REPOSITORY}/issues"),
            "source": REPOSITORY,
            "dialects": Dialect::ALL.iter().rev().map(|dialect| dialect.uri()).collect::<Vec<_>>(),
            "os": std::env::consts::OS,
        }
    })
}

fn run(options: &Options, seq: &Value, case: Case) -> Value {
    let mut options = options.clone();
    for (uri, document) in case.registry.unwrap_or_default() {
        options = options.document(uri, document);
    }
    match options.compile(&case.schema) {
        Ok(schema) => {
            let results: Vec<_> =
                case.tests.iter().map(|test| result(&schema.validate(&test.instance))).collect();
            json!({ "seq": seq, "results": results })
        }
        Err(error) => {
            json!({ "seq": seq, "errored": true, "context": { "message": error.to_string() } })
        }
    }
}

fn result(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Valid => json!({ "valid": true }),
        Verdict::Invalid(_) => json!({ "valid": false }),
        Verdict::Unfinished(limit) => {
            json!({ "errored": true, "context": { "message": limit.to_string() } })
        }
    }
}
