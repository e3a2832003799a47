//! Clients that ask as fast as they are answered, on connections that are kept.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::http::Connection;
use super::lines::Lines;

/// What every request of 2026-07-28 says.
macro_rules! meta {
    () => {
        concat!(
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{}}"#
        )
    };
}

/// A request of 2026-07-28 for the tool list.
pub(crate) const LIST: &str =
    concat!(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"#, meta!(), "}}");

/// What clients of one revision say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// 2026-07-28: every request says so.
    Natural,
    /// 2025-11-25: after a handshake.
    Legacy,
}

impl Speaks {
    fn version(self) -> &'static str {
        match self {
            Self::Natural => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }

    /// A call of `tool` that is valid.
    pub(crate) fn call(self, id: usize, tool: &str) -> String {
        self.call_with(id, tool, VALID)
    }

    /// A call of `tool` with these arguments.
    fn call_with(self, id: usize, tool: &str, arguments: &str) -> String {
        let meta = match self {
            Self::Legacy => "",
            Self::Natural => concat!(",", meta!()),
        };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#
        )
    }

    pub(crate) fn hello(self) -> String {
        let version = self.version();
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"bench","version":"1"}}}}}}"#
        )
    }
}

/// Arguments that the tools take as they are.
pub(crate) const VALID: &str = r#"{"city":"Zürich","hours":20}"#;

/// Arguments that are valid after one repair.
pub(crate) const REPAIRABLE: &str = r#"{"city":"Zürich","hours":"20"}"#;

pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What some clients measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) per_second: f64,
    pub(crate) calls: usize,
}

impl Measured {
    fn from_times(mut times: Vec<Duration>, taken: Duration) -> anyhow::Result<Self> {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied();
        let (Some(p50), Some(p99)) = (at(50), at(99)) else { bail!("no call was answered") };
        #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
        let per_second = times.len() as f64 / taken.as_secs_f64();
        Ok(Self { p50, p99, per_second, calls: times.len() })
    }
}

/// What a result has to look like to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expects {
    /// An array of twenty.
    Array,
    /// The same in the envelope.
    Envelope,
    /// The same in an object.
    Object,
}

impl Expects {
    fn check(self, answer: &Value) -> anyhow::Result<()> {
        let content = &answer["result"]["structuredContent"];
        let items = |value: &Value| value.as_array().map(Vec::len) == Some(20);
        let fits = match self {
            Self::Array => items(content),
            Self::Envelope => items(&content["result"]),
            Self::Object => items(&content["hours"]),
        };
        if fits {
            return Ok(());
        }
        let shown: String = answer.to_string().chars().take(300).collect();
        bail!("expected twenty items, found {shown}")
    }
}

/// Clients of a server on HTTP.
#[derive(Clone, Debug)]
pub(crate) struct HttpLoad {
    pub(crate) port: u16,
    pub(crate) path: String,
    pub(crate) tool: String,
    pub(crate) arguments: &'static str,
    pub(crate) speaks: Speaks,
    pub(crate) expects: Expects,
}

impl HttpLoad {
    /// Valid calls of `forecast` at `/mcp`, which return an array.
    pub(crate) fn forecast(port: u16) -> Self {
        Self {
            port,
            path: "/mcp".to_owned(),
            tool: "forecast".to_owned(),
            arguments: VALID,
            speaks: Speaks::Natural,
            expects: Expects::Array,
        }
    }

    /// A client that has been greeted, and seen one right answer.
    fn connect(&self) -> anyhow::Result<Connection> {
        let version = self.speaks.version();
        let mut connection = Connection::open(self.port, &self.path, version)?;
        if self.speaks == Speaks::Legacy {
            connection.ask(self.speaks.hello().as_bytes()).context("initialize")?;
            connection.ask(INITIALIZED.as_bytes()).context("initialized")?;
        } else {
            connection.header(&format!("mcp-method: tools/call\r\nmcp-name: {}", self.tool));
        }
        let answer = connection.ask(self.call(1).as_bytes())?;
        self.expects.check(&serde_json::from_slice(&answer).context("no JSON")?)?;
        Ok(connection)
    }

    /// The answer to one call, on a connection of its own.
    pub(crate) fn ask_once(&self) -> anyhow::Result<Vec<u8>> {
        let mut connection = Connection::open(self.port, &self.path, self.speaks.version())?;
        connection.header(&format!("mcp-method: tools/call\r\nmcp-name: {}", self.tool));
        connection.ask(self.call(1).as_bytes())
    }

    fn call(&self, id: usize) -> String {
        self.speaks.call_with(id, &self.tool, self.arguments)
    }

    /// Lets so many clients ask for so long.
    pub(crate) fn run(&self, clients: usize, time: Duration) -> anyhow::Result<Measured> {
        let connections: Vec<_> =
            (0..clients).map(|_| self.connect()).collect::<anyhow::Result<_>>()?;
        let start = Instant::now();
        let times = std::thread::scope(|scope| {
            let threads: Vec<_> = connections
                .into_iter()
                .map(|mut connection| {
                    scope.spawn(move || {
                        let mut times = Vec::new();
                        let mut id = 2;
                        while start.elapsed() < time {
                            let asked = Instant::now();
                            let call = self.call(id);
                            let answer = connection.ask(call.as_bytes())?;
                            times.push(asked.elapsed());
                            if answer.len() < 1000 {
                                bail!("a short answer: {}", String::from_utf8_lossy(&answer));
                            }
                            id += 1;
                        }
                        Ok(times)
                    })
                })
                .collect();
            let mut all = Vec::new();
            for thread in threads {
                let Ok(times) = thread.join() else { bail!("a client panicked") };
                all.extend(times?);
            }
            Ok(all)
        })?;
        Measured::from_times(times, start.elapsed())
    }
}

/// Clients of a server on standard input and output: so many calls at a time on one connection.
pub(crate) struct LinesLoad {
    pub(crate) lines: Lines,
    pub(crate) tool: String,
    pub(crate) arguments: &'static str,
    pub(crate) speaks: Speaks,
    pub(crate) next: usize,
}

impl LinesLoad {
    /// A client that has been greeted, and seen one right answer.
    pub(crate) fn connect(
        mut lines: Lines,
        tool: &str,
        arguments: &'static str,
        speaks: Speaks,
        expects: Expects,
    ) -> anyhow::Result<Self> {
        // Servers on standard input and output settle the revision once, here.
        if speaks == Speaks::Legacy {
            lines.send(&speaks.hello())?;
            lines.answer()?;
            lines.send(INITIALIZED)?;
        }
        lines.send(&speaks.call_with(1, tool, arguments))?;
        let (_, answer) = lines.answer()?;
        expects.check(&serde_json::from_slice(&answer)?)?;
        Ok(Self { lines, tool: tool.to_owned(), arguments, speaks, next: 2 })
    }

    /// Keeps so many calls open for so long.
    pub(crate) fn run(&mut self, clients: usize, time: Duration) -> anyhow::Result<Measured> {
        let start = Instant::now();
        let (mut asked, mut times) = (HashMap::new(), Vec::new());
        loop {
            while asked.len() < clients && start.elapsed() < time {
                asked.insert(self.next, Instant::now());
                self.lines.send(&self.speaks.call_with(self.next, &self.tool, self.arguments))?;
                self.next += 1;
            }
            if asked.is_empty() {
                return Measured::from_times(times, start.elapsed());
            }
            let (id, answer) = self.lines.answer()?;
            let Some(asked) = asked.remove(&id) else {
                bail!("an answer to {id}, which nobody asked")
            };
            if answer.len() < 1000 {
                bail!("a short answer: {}", String::from_utf8_lossy(&answer));
            }
            times.push(asked.elapsed());
        }
    }
}
