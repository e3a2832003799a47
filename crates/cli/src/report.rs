//! Writes verdicts of `toolbond check`.

use std::io::{self, Write};

use serde_json::{Value, json};
use toolbond_contract::ContractErrorKind;
use toolbond_schema::{Measured, Schema, SchemaError, Verdict, Violation};

use crate::excerpt::{Positions, Remark};
use crate::format::Format;
use crate::input::Document;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// Writes verdicts in one [`Format`].
pub(crate) struct Report<W> {
    format: Format,
    out: W,
}

impl<W: Write> Report<W> {
    /// Writes to `out`, which keeps or strips colours.
    pub(crate) const fn new(format: Format, out: W) -> Self {
        Self { format, out }
    }

    /// Writes that the schema can be used.
    pub(crate) fn write_admitted(
        &mut self,
        document: &Document<'_>,
        schema: &Schema,
    ) -> io::Result<()> {
        let dialect = schema.dialect();
        if self.format == Format::Json {
            let line = json!({
                "schema": document.name, "verdict": "admitted", "dialect": dialect.to_string()
            });
            return writeln!(self.out, "{line}");
        }
        let name = printable(&document.name);
        writeln!(self.out, "{name}: {GOOD}admitted{GOOD:#} {DIM}({dialect}){DIM:#}")
    }

    /// Writes why the schema cannot be used.
    pub(crate) fn write_refused(
        &mut self,
        doc: &Document<'_>,
        error: &SchemaError,
    ) -> io::Result<()> {
        let hint = ContractErrorKind::Schema(error.kind.clone()).hint();
        let message = error.kind.to_string();
        let positions = positions(doc);
        let place = positions.as_ref().and_then(|p| p.line_column(&error.pointer));
        match self.format {
            Format::Full => {
                let title = format!("schema refused at {}: {message}", error.pointer);
                let remark = Remark { title, label: "", hint: hint.as_deref() };
                let text = match &positions {
                    Some(positions) => positions.render(&error.pointer, &remark),
                    None => remark.render_without_excerpt(&doc.name),
                };
                writeln!(self.out, "{text}\n")
            }
            Format::Concise => {
                let name = with_position(&doc.source, place);
                let line = with_hint(format!("{name}: {error}"), hint.as_deref());
                writeln!(self.out, "{}", printable(&line))
            }
            Format::Json => {
                let mut line = json!({
                    "schema": doc.name, "verdict": "refused",
                    "pointer": error.pointer, "message": message,
                });
                add(&mut line, "hint", hint.map(Value::from));
                add_place(&mut line, place);
                writeln!(self.out, "{line}")
            }
        }
    }

    /// Writes the verdict on an instance.
    pub(crate) fn write_verdict(
        &mut self,
        doc: &Document<'_>,
        measured: &Measured,
    ) -> io::Result<()> {
        if self.format == Format::Json {
            return writeln!(self.out, "{}", verdict_json(doc, measured));
        }
        let name = printable(&doc.name);
        match &measured.verdict {
            Verdict::Valid => writeln!(self.out, "{name}: {GOOD}valid{GOOD:#}"),
            Verdict::Unfinished(limit) => {
                writeln!(self.out, "{name}: {BAD}unfinished{BAD:#}: {limit}")
            }
            Verdict::Invalid(violations) => {
                let positions = positions(doc);
                for violation in violations {
                    self.write_violation(doc, positions.as_ref(), violation)?;
                }
                if violations.omitted() {
                    writeln!(self.out, "{name}: {BAD}invalid{BAD:#}: … and more")?;
                }
                Ok(())
            }
        }
    }

    fn write_violation(
        &mut self,
        doc: &Document<'_>,
        positions: Option<&Positions<'_>>,
        violation: &Violation,
    ) -> io::Result<()> {
        if self.format == Format::Concise {
            let place = positions.and_then(|p| p.line_column(&violation.instance));
            let line = format!("{}: {violation}", with_position(&doc.source, place));
            return writeln!(self.out, "{}", printable(&line));
        }
        let advice = violation.advice();
        let remark = Remark {
            title: format!("{}: {}", violation.instance, violation.message),
            label: &match &violation.document {
                Some(document) => format!("by the schema at {document}{}", violation.schema),
                None => format!("by the schema at {}", violation.schema),
            },
            hint: advice.as_deref(),
        };
        let text = match positions {
            Some(positions) => positions.render(&violation.instance, &remark),
            None => remark.render_without_excerpt(&doc.name),
        };
        writeln!(self.out, "{text}\n")
    }
}

fn verdict_json(doc: &Document<'_>, measured: &Measured) -> Value {
    let mut line = json!({ "instance": doc.name });
    match &measured.verdict {
        Verdict::Valid => line["verdict"] = "valid".into(),
        Verdict::Unfinished(limit) => {
            line["verdict"] = "unfinished".into();
            line["message"] = limit.to_string().into();
        }
        Verdict::Invalid(violations) => {
            let positions = positions(doc);
            let list = violations.into_iter().map(|violation| {
                let mut entry = json!(violation);
                add_place(
                    &mut entry,
                    positions.as_ref().and_then(|p| p.line_column(&violation.instance)),
                );
                entry
            });
            line["verdict"] = "invalid".into();
            line["violations"] = list.collect();
            line["omitted"] = violations.omitted().into();
        }
    }
    line["fuel"] = measured.fuel.into();
    line
}

fn positions<'a>(doc: &'a Document<'_>) -> Option<Positions<'a>> {
    doc.text.map(|text| Positions::parse(&doc.source, text, doc.line))
}

fn with_position(name: &str, place: Option<(usize, usize)>) -> String {
    place.map_or_else(|| name.to_owned(), |(line, column)| format!("{name}:{line}:{column}"))
}

fn with_hint(line: String, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{line} ({hint})"),
        None => line,
    }
}

fn add(object: &mut Value, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[name] = value;
    }
}

fn add_place(object: &mut Value, place: Option<(usize, usize)>) {
    add(object, "line", place.map(|(line, _)| line.into()));
    add(object, "column", place.map(|(_, column)| column.into()));
}
