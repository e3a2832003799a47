//! The calls that clients make.

use serde_json::{Value, json};

use super::tally::{Kind, check_forecast, check_refusal};
use crate::plain::{Costly, zeros};

/// A call, and what has to come back.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: String,
    expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Forecast,
    Refusal,
    /// Anything but an answer to somebody else.
    Any,
}

impl Call {
    fn new(tool: &str, arguments: &impl ToString, expected: Expected) -> Self {
        Self { tool: tool.to_owned(), arguments: arguments.to_string(), expected }
    }

    pub(super) fn good() -> Self {
        let arguments = json!({ "city": "Zürich", "hours": 20 });
        Self::new("forecast", &arguments, Expected::Forecast)
    }

    /// The forecast after a while.
    pub(super) fn slow(milliseconds: u64) -> Self {
        Self::new("slow", &json!({ "milliseconds": milliseconds }), Expected::Forecast)
    }

    /// Notifications before the answer.
    pub(super) fn notify(count: usize, bytes: usize) -> Self {
        Self::new("notify", &json!({ "count": count, "bytes": bytes }), Expected::Any)
    }

    /// The call with the number `turn` of clients of this kind.
    pub(super) fn of_kind(kind: Kind, turn: usize, costly: &[Costly]) -> Self {
        match kind {
            Kind::WrongArguments => {
                let all: [Value; 4] = [
                    json!({ "city": 5 }),
                    json!({ "hours": 3 }),
                    json!({ "city": "Zürich", "hours": 49 }),
                    json!({ "city": "Zürich", "hours": "many" }),
                ];
                Self::new("forecast", &all[turn % all.len()], Expected::Refusal)
            }
            Kind::WrongResults => Self::new("wrong", &"{}", Expected::Refusal),
            Kind::Hostile if turn % 8 == 6 => {
                let values = zeros(1 << 20).replacen('0', "\"zero\"", 1);
                Self::new("count", &format!(r#"{{"values":{values}}}"#), Expected::Refusal)
            }
            Kind::Hostile if turn % 8 == 7 => {
                let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
                Self::new("count", &format!(r#"{{"values":{deep}}}"#), Expected::Refusal)
            }
            Kind::Hostile if !costly.is_empty() => {
                let Costly { name, arguments } = &costly[(turn / 8 * 6 + turn % 8) % costly.len()];
                Self::new(name, arguments, Expected::Refusal)
            }
            _ => Self::good(),
        }
    }

    /// The message, in 2026-07-28 or in an earlier revision.
    pub(super) fn message(&self, id: usize, is_legacy: bool) -> String {
        let meta = if is_legacy {
            ""
        } else {
            concat!(
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
                r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"#,
                r#""io.modelcontextprotocol/clientCapabilities":{}}"#
            )
        };
        let Self { tool, arguments, .. } = self;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#
        )
    }

    /// Checks what came back.
    pub(super) fn check(&self, answer: &[u8], id: usize, is_legacy: bool) -> anyhow::Result<()> {
        match self.expected {
            Expected::Forecast => check_forecast(answer, id, is_legacy),
            Expected::Refusal => check_refusal(answer, id),
            Expected::Any => Ok(()),
        }
    }
}

/// The first message of a client of an earlier revision.
pub(super) const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

/// The second one.
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
