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
}

impl From<Vec<Advice>> for Reading {
    fn from(advice: Vec<Advice>) -> Self {
        Self { advice, example: None }
    }
}

/// Reads a message about the arguments of a call.
pub(super) type Reader = fn(message: &str, arguments: &Value) -> Reading;

pub(super) const OURS: Reader = ours::read;
pub(super) const AJV_TEXT: Reader = |message, _| ajv::read_text(message).into();
pub(super) const AJV_JSON: Reader = |message, _| ajv::read_json(message).into();
pub(super) const ZOD: Reader = |message, arguments| zod::read(message, arguments).into();
pub(super) const PYDANTIC: Reader = |message, arguments| pydantic::read(message, arguments).into();
pub(super) const JSONSCHEMA: Reader = |message, _| jsonschema::read(message).into();
