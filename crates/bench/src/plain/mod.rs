//! A small server that answers from prepared text, on HTTP or on standard input and output.
//!
//! It does so little that a proxy in front of it is what a bench measures, and it does on request what
//! a hostile or broken server does: huge results, wrong results, floods of notifications, and not
//! reading its input any more.

mod tools;
mod transport;

use std::borrow::Cow;
use std::time::Duration;

use clap::ValueEnum;
use memchr::memmem::find;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use tools::{Costly, costly, zeros};
pub(crate) use transport::{on_http, on_stdio};

use tools::Tools;

/// What the server has.
#[derive(clap::Args)]
#[group(id = "plain")]
pub(crate) struct Options {
    /// Tools that cost more than any budget.
    #[arg(long)]
    costly: bool,
    /// The revisions that it speaks; it refuses the others.
    #[arg(long, value_enum, default_value_t = Eras::Legacy)]
    eras: Eras,
    /// The tool list of this server of the corpus.
    #[arg(long)]
    list: Option<String>,
    /// Endless notifications of so many bytes on streams that clients open.
    #[arg(long, default_value_t = 0)]
    notices: usize,
    /// So many tools of the corpus at every path.
    #[arg(long, default_value_t = 0)]
    published: usize,
}

/// The revisions that a server speaks.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Eras {
    /// Those before 2026-07-28.
    Legacy,
    /// 2026-07-28.
    Modern,
    Both,
}

/// What the server says to one message.
#[derive(Default)]
struct Reply {
    answer: String,
    /// The answer to `initialize`.
    is_welcome: bool,
    /// How long the answer takes.
    delay: Duration,
    /// So many notifications of so many bytes come before the answer.
    notices: (usize, usize),
    /// The server reads no more input after it.
    is_last: bool,
}

impl Reply {
    fn is_prompt(&self) -> bool {
        self.delay.is_zero() && self.notices.0 == 0
    }
}

impl From<String> for Reply {
    fn from(answer: String) -> Self {
        Self { answer, ..Self::default() }
    }
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
    eras: Eras,
}

impl Server {
    fn new(options: &Options) -> anyhow::Result<Self> {
        Ok(Self { tools: Tools::new(options)?, eras: options.eras })
    }

    /// What the server at `path` says to `message`, a request, a notification or a batch.
    fn reply(&self, path: &str, message: &[u8]) -> Option<Reply> {
        let message = message.trim_ascii();
        let broken = || Some(failure("null", -32700, "this is not JSON-RPC"));
        if message.first() != Some(&b'[') {
            let Ok(request) = serde_json::from_slice::<Request<'_>>(message) else {
                return broken();
            };
            return self.one(path, &request);
        }
        let Ok(batch) = serde_json::from_slice::<Vec<Request<'_>>>(message) else {
            return broken();
        };
        let answers = batch.iter().filter_map(|request| self.one(path, request));
        let answers: Vec<_> = answers.map(|reply| reply.answer).collect();
        (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")).into())
    }

    fn one(&self, path: &str, request: &Request<'_>) -> Option<Reply> {
        let (id, method) = (request.id?.get(), request.method.as_deref()?);
        let params = request.params.map_or("{}", RawValue::get);
        let is_modern = is_modern(params);
        let is_refused = match self.eras {
            // Most servers do not know this method.
            Eras::Legacy => is_modern && method != "server/discover",
            Eras::Modern => !is_modern,
            Eras::Both => false,
        };
        if is_refused {
            return Some(failure(id, -32022, "unsupported protocol version"));
        }
        Some(match method {
            "initialize" => {
                let answer = answer(id, &[&tools::welcome(params)]);
                Reply { answer, is_welcome: true, ..Reply::default() }
            }
            "server/discover" if self.eras != Eras::Legacy => {
                let found = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
                answer(id, &[found]).into()
            }
            "ping" => answer(id, &["{}"]).into(),
            "tools/list" => answer(id, &[&self.tools.list(path)]).into(),
            "tools/call" => self.tools.call(id, params, is_modern),
            _ => failure(id, -32601, "no such method"),
        })
    }
}

/// Whether these are parameters of 2026-07-28.
fn is_modern(params: &str) -> bool {
    find(params.as_bytes(), b"\"io.modelcontextprotocol/protocolVersion\"").is_some()
}

/// An answer whose result is `parts`, one after the other.
fn answer(id: &str, parts: &[&str]) -> String {
    [&[r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#], parts, &["}"]].concat().concat()
}

fn failure(id: &str, code: i32, message: &str) -> Reply {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
        .into()
}
