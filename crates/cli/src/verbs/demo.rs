//! `toolpact demo`: a guided tour.

use std::io::{self, Write};
use std::time::Instant;

use serde_json::{Map, Value, json};
use toolpact_schema::{Schema, Verdict};

use crate::exit::Outcome;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// Take a guided tour: a few values, a few schemas, and one that would run for ages.
///
/// Needs no files and changes none.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {}

impl Demo {
    #[expect(clippy::unused_self, reason = "every verb runs the same way")]
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let out = &mut anstream::stdout().lock();
        values(out)?;
        schemas(out)?;
        hostile(out)?;
        writeln!(out, "\n{DIM}next: toolpact check --help{DIM:#}")?;
        Ok(Outcome::Clean)
    }
}

fn title(out: &mut impl Write, number: usize, text: &str) -> io::Result<()> {
    let bold = anstyle::Style::new().bold();
    writeln!(out, "{}{bold}{number}. {text}{bold:#}", if number > 1 { "\n" } else { "" })
}

/// One schema, three calls.
fn values(out: &mut impl Write) -> anyhow::Result<()> {
    title(out, 1, "Arguments of a tool, checked against its input schema")?;
    let weather = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "minLength": 1 },
            "hours": { "type": "integer", "minimum": 1, "maximum": 24 },
            "units": { "enum": ["metric", "imperial"] }
        },
        "required": ["city"],
        "additionalProperties": false
    });
    let schema = Schema::compile(&weather)?;
    for call in [
        json!({ "city": "Oslo", "hours": 3 }),
        json!({ "city": "Oslo", "hours": 30, "units": "metrics" }),
        json!({ "town": "Oslo", "hours": "3" }),
    ] {
        writeln!(out, "   {}", printable(&call.to_string()))?;
        match schema.validate(&call) {
            Verdict::Valid => writeln!(out, "   {GOOD}valid{GOOD:#}")?,
            Verdict::Invalid(violations) => {
                for violation in &violations {
                    writeln!(out, "   {BAD}invalid{BAD:#} {}", printable(&violation.to_string()))?;
                }
            }
            Verdict::Unfinished(limit) => writeln!(out, "   {BAD}unfinished{BAD:#} {limit}")?,
        }
    }
    Ok(())
}

/// Schemas that are not admitted.
fn schemas(out: &mut impl Write) -> anyhow::Result<()> {
    title(out, 2, "Schemas that are refused before anything runs")?;
    for schema in [
        json!({ "properties": { "n": { "exclusiveMinimum": true } } }),
        json!({ "properties": { "who": { "$ref": "https://example.com/person.json" } } }),
        json!("string"),
    ] {
        writeln!(out, "   {}", printable(&schema.to_string()))?;
        match Schema::compile(&schema) {
            Ok(_) => writeln!(out, "   {GOOD}admitted{GOOD:#}")?,
            Err(error) => {
                writeln!(out, "   {BAD}refused{BAD:#} {}", printable(&error.to_string()))?;
                if let Some(hint) = error.kind.hint() {
                    writeln!(out, "           {DIM}{}{DIM:#}", printable(&hint))?;
                }
            }
        }
    }
    Ok(())
}

/// Schemas that would keep a validator busy for longer than anyone lives.
fn hostile(out: &mut impl Write) -> anyhow::Result<()> {
    title(out, 3, "Hostile schemas, stopped")?;
    let doubling = doubling(60);
    writeln!(
        out,
        "   60 definitions, each of which refers to the next one twice ({} bytes)",
        doubling.to_string().len()
    )?;
    tell(out, &doubling, &json!("x"))?;

    let objects: Vec<_> = (0..5000).map(|n| json!({ "n": n })).collect();
    let items = vec![json!({ "n": 4999 }); 5000];
    writeln!(out, "   5000 items, each to be one of 5000 objects")?;
    tell(out, &json!({ "items": { "enum": objects } }), &items.into())?;

    let backtracking = json!({ "pattern": "^(a|aa)+(?<=b)$" });
    let text = format!("{}!", "a".repeat(60));
    writeln!(out, "   a pattern that tries every way to split a text, against 60 letters")?;
    tell(out, &backtracking, &json!(text))
}

fn tell(out: &mut impl Write, schema: &Value, instance: &Value) -> anyhow::Result<()> {
    let start = Instant::now();
    let end = match Schema::compile(schema) {
        Err(error) => format!("{BAD}refused{BAD:#} {}", printable(&error.to_string())),
        Ok(schema) => match schema.validate(instance) {
            Verdict::Valid => format!("{GOOD}valid{GOOD:#}"),
            Verdict::Invalid(_) => format!("{GOOD}invalid{GOOD:#}"),
            Verdict::Unfinished(limit) => format!("{BAD}unfinished{BAD:#} {limit}"),
        },
    };
    let time = start.elapsed();
    writeln!(out, "   {end} {DIM}({:.1} ms){DIM:#}", time.as_secs_f64() * 1000.0)?;
    Ok(())
}

/// `levels` definitions, each of which refers to the next one twice.
fn doubling(levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        definitions.insert(level.to_string(), json!({ "allOf": [next, next] }));
    }
    definitions.insert(levels.to_string(), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/0", "$defs": definitions })
}
