//! Readers of messages, one for each format. A reader uses every fact that its format states.

mod ajv;
mod jsonschema;
mod literal;
mod ours;
mod pydantic;
mod zod;

use serde_json::Value;

use super::advice::Advice;

/// What a message says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Reading {
    pub(super) advice: Vec<Advice>,
    /// A complete call.
    pub(super) example: Option<Value>,
    /// Statements of the message.
    pub(super) statements: usize,
    /// Statements that the reader could make nothing of.
    pub(super) unread: Vec<String>,
}

impl Reading {
    /// Adds what was read from one statement.
    fn add(&mut self, statement: &str, advice: Vec<Advice>) {
        self.statements += 1;
        if advice.is_empty() {
            self.unread.push(statement.to_owned());
        }
        self.advice.extend(advice);
    }
}

/// Reads a message about the arguments of a call.
pub(super) type Reader = fn(message: &str, arguments: &Value) -> Reading;

pub(super) const OURS: Reader = ours::read;
pub(super) const AJV_TEXT: Reader = |message, _| ajv::read_text(message);
pub(super) const AJV_JSON: Reader = |message, _| ajv::read_json(message);
pub(super) const ZOD: Reader = zod::read;
pub(super) const PYDANTIC: Reader = pydantic::read;
pub(super) const JSONSCHEMA: Reader = |message, _| jsonschema::read(message);
