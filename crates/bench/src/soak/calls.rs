//! The calls that clients make, and what has to come back.

use anyhow::ensure;
use serde_json::{Value, json};

use super::tally::Kind;
use crate::calls::{Era, VALID};
use crate::plain::{Costly, zeros};
use crate::weather::forecast;

/// A call, and what has to come back.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    arguments: String,
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
        Self::new("forecast", &VALID, Expected::Forecast)
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
        let refused = |tool: &str, arguments: &str| Self::new(tool, &arguments, Expected::Refusal);
        match kind {
            Kind::WrongArguments => {
                let all = [
                    r#"{"city":5}"#,
                    r#"{"hours":3}"#,
                    r#"{"city":"Zürich","hours":49}"#,
                    r#"{"city":"Zürich","hours":"many"}"#,
                ];
                refused("forecast", all[turn % all.len()])
            }
            Kind::WrongResults => refused("wrong", "{}"),
            Kind::Hostile => match turn % 8 {
                6 => {
                    let values = zeros(1 << 20).replacen('0', "\"zero\"", 1);
                    refused("count", &format!(r#"{{"values":{values}}}"#))
                }
                7 => {
                    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
                    refused("count", &format!(r#"{{"values":{deep}}}"#))
                }
                rest => {
                    let Costly { name, arguments } = &costly[(turn / 8 * 6 + rest) % costly.len()];
                    refused(name, &arguments.to_string())
                }
            },
            _ => Self::good(),
        }
    }

    pub(super) fn message(&self, id: usize, era: Era) -> String {
        era.call(id, &self.tool, &self.arguments)
    }

    /// Checks what came back.
    pub(super) fn check(&self, answer: &[u8], id: usize, era: Era) -> anyhow::Result<()> {
        if self.expected == Expected::Any {
            return Ok(());
        }
        let answer: Value = serde_json::from_slice(answer)?;
        ensure!(answer["id"] == id, "expected an answer to {id}, found {answer}");
        let result = &answer["result"];
        if self.expected == Expected::Forecast {
            let hours = json!(forecast(None));
            let wanted = if era == Era::Legacy { json!({ "result": hours }) } else { hours };
            let is_right = result["structuredContent"] == wanted;
            ensure!(is_right, "expected the forecast, found {answer}");
        } else {
            let refuses = answer["error"].is_object()
                || (result["isError"] == true && result.get("structuredContent").is_none());
            ensure!(refuses, "expected a refusal, found {answer}");
        }
        Ok(())
    }
}
