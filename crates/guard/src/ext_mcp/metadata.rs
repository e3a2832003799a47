//! What the check of a request notes for the check of its result.
//!
//! The two share nothing else: the gateway may send them to different replicas, and a result names neither its tool nor
//! the revision of its client. The gateway keeps the note with the request, under the key `toolbond`:
//!
//! | member | meaning |
//! | --- | --- |
//! | `revision` | the protocol revision of the client; absent if it names none |
//! | `server`, `tool` | which tool of which server is called |
//! | `definition` | what of the tool decides about its results, as JSON text |
//! | `unlisted` | `true` if the server does not list the tool |

use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use serde_json::json;
use toolbond_contract::{Contract, Revision};

use crate::contract::catalog::Tool;
use crate::core::Called;

/// The key of the note in the metadata.
const KEY: &str = "toolbond";

/// The most bytes of a definition: gateways hold it as long as the call takes, and may log it.
const MAX_DEFINITION: usize = 64 << 10;

/// A note about a request.
#[derive(Debug, Default)]
pub(super) struct Note {
    pub(super) revision: Option<Revision>,
    /// The call, where it is one.
    pub(super) call: Option<CallNote>,
}

/// A note about a call.
#[derive(Debug, Default)]
pub(super) struct CallNote {
    pub(super) server: String,
    tool: String,
    /// What of the tool decides about its results, as JSON.
    pub(super) definition: Option<String>,
    /// Whether the server does not list the tool.
    pub(super) is_unlisted: bool,
}

impl CallNote {
    /// Fails if the tool is too large, with a reason.
    pub(super) fn new(server: &str, called: &Called) -> Result<Self, String> {
        let server = server.to_owned();
        let Called::Tool(Tool::Offered { contract, .. }) = called else {
            return Ok(Self { server, is_unlisted: true, ..Self::default() });
        };
        let (tool, definition) = (contract.name().to_owned(), definition(contract));
        if definition.len() > MAX_DEFINITION {
            return Err(format!(
                "tool `{tool}`: its output schema of {} bytes exceeds the limit of {MAX_DEFINITION} for metadata; its results are not checked",
                definition.len()
            ));
        }
        Ok(Self { server, tool, definition: Some(definition), is_unlisted: false })
    }
}

/// The tool of `contract` without what does not matter to its results.
fn definition(contract: &Contract) -> String {
    let mut tool = contract.tool().clone();
    for member in ["annotations", "description", "icons"] {
        tool.shift_remove(member);
    }
    tool.insert("inputSchema".to_owned(), json!({ "type": "object" }));
    serde_json::Value::Object(tool).to_string()
}

impl Note {
    /// Reads the note in `metadata`; what is absent or of the wrong type is not in it.
    pub(super) fn read(metadata: Option<&Struct>) -> Self {
        let note = metadata.and_then(|metadata| metadata.fields.get(KEY)?.kind.as_ref());
        let Some(Kind::StructValue(note)) = note else { return Self::default() };
        let text = |name: &str| match note.fields.get(name)?.kind.as_ref()? {
            Kind::StringValue(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let unlisted = note.fields.get("unlisted").and_then(|value| value.kind.as_ref());
        let call = text("server").map(|server| CallNote {
            server,
            tool: text("tool").unwrap_or_default(),
            definition: text("definition"),
            is_unlisted: matches!(unlisted, Some(Kind::BoolValue(true))),
        });
        Self { revision: text("revision").map(|name| Revision::from(name.as_str())), call }
    }

    /// The metadata with this note.
    pub(super) fn write(self) -> Struct {
        let mut fields = Vec::new();
        let mut add = |name: &str, kind: Kind| {
            fields.push((name.to_owned(), Value { kind: Some(kind) }));
        };
        if let Some(revision) = self.revision.filter(|revision| *revision != Revision::ABSENT) {
            add("revision", Kind::StringValue(revision.to_string()));
        }
        if let Some(CallNote { server, tool, definition, is_unlisted }) = self.call {
            add("server", Kind::StringValue(server));
            if let Some(definition) = definition {
                add("tool", Kind::StringValue(tool));
                add("definition", Kind::StringValue(definition));
            }
            if is_unlisted {
                add("unlisted", Kind::BoolValue(true));
            }
        }
        let note = Kind::StructValue(Struct { fields: fields.into_iter().collect() });
        Struct { fields: [(KEY.to_owned(), Value { kind: Some(note) })].into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbond_contract::{Contract, Form, Revision};

    use super::{CallNote, MAX_DEFINITION, Note};
    use crate::contract::catalog::Tool;
    use crate::core::Called;

    /// A tool whose output schema has about `bytes` bytes.
    fn tool(bytes: usize) -> Called {
        let contract = Contract::received(json!({
            "name": "count",
            "description": "Counts.",
            "inputSchema": { "type": "object", "properties": { "of": { "type": "string" } } },
            "outputSchema": { "type": "integer", "description": "x".repeat(bytes) }
        }));
        Called::Tool(Tool::Offered { contract: contract.unwrap(), form: Form::Natural, view: None })
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let call = CallNote::new("demo", &tool(1)).unwrap();
        let note = Note { revision: Some(Revision::V2026_07_28), call: Some(call) };
        let read = Note::read(Some(&note.write()));
        assert_eq!(read.revision, Some(Revision::V2026_07_28));
        let call = read.call.unwrap();
        assert_eq!((&*call.server, &*call.tool, call.is_unlisted), ("demo", "count", false));
        assert_eq!(
            call.definition.unwrap(),
            r#"{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"integer","description":"x"}}"#
        );

        let unlisted = CallNote::new("demo", &Called::Unlisted).unwrap();
        let note = Note { revision: Some(Revision::ABSENT), call: Some(unlisted) };
        let read = Note::read(Some(&note.write()));
        assert!(read.revision.is_none() && read.call.unwrap().is_unlisted);
        assert!(Note::read(None).call.is_none());
    }

    #[test]
    fn a_large_tool_is_not_noted() {
        assert!(CallNote::new("demo", &tool(MAX_DEFINITION - 200)).is_ok());
        let reason = CallNote::new("demo", &tool(MAX_DEFINITION)).unwrap_err();
        assert!(reason.contains("exceeds the limit of 65536"), "{reason}");
    }
}
