//! The validators whose messages are compared.

use serde_json::{Map, Value};
use toolbond_contract::Mode;

use super::calls::Call;
use super::peers::{Answer, Peer};
use super::readers::{self, Reader};

/// A validator, or one form of its messages.
pub(super) struct Validator {
    pub(super) name: &'static str,
    /// Its name in the scripts of `peers/validators`.
    id: &'static str,
    language: Language,
    pub(super) reader: Reader,
}

enum Language {
    Rust,
    Node,
    Python,
}

pub(super) const ALL: [Validator; 6] = [
    Validator { name: "Toolbond", id: "", language: Language::Rust, reader: readers::OURS },
    Validator {
        name: "Ajv, `errorsText()`",
        id: "ajv",
        language: Language::Node,
        reader: readers::AJV_TEXT,
    },
    Validator {
        name: "Ajv, errors as JSON",
        id: "ajv-json",
        language: Language::Node,
        reader: readers::AJV_JSON,
    },
    Validator { name: "zod", id: "zod", language: Language::Node, reader: readers::ZOD },
    Validator {
        name: "Pydantic",
        id: "pydantic",
        language: Language::Python,
        reader: readers::PYDANTIC,
    },
    Validator {
        name: "Python `jsonschema`",
        id: "jsonschema",
        language: Language::Python,
        reader: readers::JSONSCHEMA,
    },
];

/// The processes of all validators.
pub(super) struct Validators {
    node: Peer,
    python: Peer,
}

impl Validators {
    pub(super) fn start() -> anyhow::Result<Self> {
        Ok(Self { node: Peer::node()?, python: Peer::python()? })
    }

    /// What the validator `index` says about arguments of a call.
    pub(super) fn ask(
        &mut self,
        index: usize,
        call: &Call,
        arguments: &Value,
    ) -> anyhow::Result<Answer> {
        let Validator { id, language, .. } = &ALL[index];
        match language {
            Language::Node => self.node.ask(id, call.schema(), arguments),
            Language::Python => self.python.ask(id, call.schema(), arguments),
            Language::Rust => {
                let judged = call.contract.judge_arguments(Some(arguments), Mode::Enforce);
                let text = |refusal: Map<String, Value>| {
                    let text = refusal["content"][0]["text"].as_str();
                    Answer::Invalid(text.unwrap_or_default().to_owned())
                };
                Ok(judged.refusal.map_or(Answer::Valid, text))
            }
        }
    }
}
