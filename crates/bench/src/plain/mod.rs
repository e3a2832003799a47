//! A small server that answers from prepared text, on HTTP or on standard input and output.
//!
//! It does so little that a proxy in front of it is what a bench measures, and it does on request what
//! a hostile or broken server does: huge results, wrong results, floods of notifications, and not
//! reading its input any more.

mod http;
mod stdio;
mod tools;

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use http::serve as on_http;
pub(crate) use stdio::serve as on_stdio;
pub(crate) use tools::{Costly, costly, forecast, zeros};

use tools::Tools;

/// What the server says to one message.
enum Reply {
    /// Nothing, because the message asks for nothing.
    Nothing,
    Answer(Bytes),
    /// The answer after a while.
    Later(Duration, Bytes),
    /// So many notifications, then the answer.
    Notices {
        count: usize,
        notice: Bytes,
        answer: Bytes,
    },
    /// The answer; then the server reads no more input.
    Deaf(Bytes),
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// The server, apart from its transport.
struct Server {
    tools: Tools,
}

impl Server {
    fn new(with_costly: bool) -> Self {
        Self { tools: Tools::new(with_costly) }
    }

    /// What the server at `path` says to `message`, a request, a notification or a batch.
    fn reply(&self, path: &str, message: &[u8]) -> Reply {
        let message = message.trim_ascii();
        if message.first() != Some(&b'[') {
            let Ok(request) = serde_json::from_slice::<Request<'_>>(message) else {
                return Reply::Answer(failure("null", -32700, "this is not JSON-RPC"));
            };
            return self.one(path, &request);
        }
        let Ok(batch) = serde_json::from_slice::<Vec<Request<'_>>>(message) else {
            return Reply::Answer(failure("null", -32700, "this is not JSON-RPC"));
        };
        let mut answers = Vec::new();
        for request in &batch {
            match self.one(path, request) {
                Reply::Nothing => {}
                Reply::Answer(answer)
                | Reply::Later(_, answer)
                | Reply::Notices { answer, .. }
                | Reply::Deaf(answer) => {
                    answers.push(if answers.is_empty() { b'[' } else { b',' });
                    answers.extend_from_slice(&answer);
                }
            }
        }
        if answers.is_empty() {
            return Reply::Nothing;
        }
        answers.push(b']');
        Reply::Answer(answers.into())
    }

    fn one(&self, path: &str, request: &Request<'_>) -> Reply {
        let (Some(id), Some(method)) = (request.id, request.method.as_deref()) else {
            return Reply::Nothing;
        };
        let (id, params) = (id.get(), request.params.map_or("{}", RawValue::get));
        match method {
            "initialize" => Reply::Answer(answer(id, &[&tools::welcome(params)])),
            "ping" => Reply::Answer(answer(id, &["{}"])),
            "tools/list" => Reply::Answer(answer(id, &[&self.tools.list(path)])),
            "tools/call" => self.tools.call(id, params),
            _ => Reply::Answer(failure(id, -32601, "no such method")),
        }
    }
}

/// An answer whose result is `parts`, one after the other.
fn answer(id: &str, parts: &[&str]) -> Bytes {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut text = String::with_capacity(length + id.len() + 40);
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    text.push_str(id);
    text.push_str(r#","result":"#);
    for part in parts {
        text.push_str(part);
    }
    text.push('}');
    text.into()
}

fn failure(id: &str, code: i32, message: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
        .into()
}
