//! Clients of the official SDKs, and what they read of a server that answers with the bytes it is told to.

use std::fs;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolbond_harness::peers;

use crate::guard_http::Process;
use crate::recorder::{Record, Way, command, guard_words, listening};
use toolbond_harness::envoy::Envoy;

/// A client that reads results without checking them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The text streams of Python, without an SDK.
    Text,
    /// Python's httpx, without an SDK, in this mode.
    Httpx(&'static str),
    /// The Python SDK 1.x.
    PythonV1,
    /// The Python SDK 2.x, in this mode.
    PythonV2(&'static str),
    /// The TypeScript SDK, in this mode.
    Typescript(&'static str),
}

/// What is not valid under the output schema of the tool.
pub(crate) const EVIL: &str = r#"{"n":"evil"}"#;

/// A result with this structured content.
pub(crate) fn result(structured: &str) -> String {
    format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":"a"}}],"structuredContent":{structured}}}"#
    )
}

/// The answer to `id` with this structured content.
pub(crate) fn answer(id: &str, structured: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result(structured))
}

/// The head of a response.
pub(crate) fn head(kind: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n")
}

/// A text of a script, with its head and encoding.
pub(crate) fn encoded(kind: &str, text: &str, encoding: &str) -> Value {
    json!([head(kind), text, encoding])
}

impl Reader {
    /// What comes of each of `calls`, names of tools or requests, to a server with this script.
    pub(crate) fn read(self, way: Way, script: &Value, calls: &Value) -> Vec<Value> {
        let mut server = peers::words("servers/scripted.py");
        let file = Record::new();
        fs::write(&file.0, script.to_string()).unwrap();
        server.push(file.path().to_owned());
        let http = || listening(command(&[&server[..], &["--http".into()]].concat()), false);
        let mut envoy = None;
        let (_processes, target): (Vec<Process>, Vec<String>) = match way {
            Way::Stdio => (Vec::new(), server),
            Way::GuardedStdio => {
                (Vec::new(), [&guard_words(&[])[..], &["--".into()], &server].concat())
            }
            Way::Http => {
                let (server, port) = http();
                (vec![server], vec![url(port)])
            }
            Way::GuardedHttp => {
                let (server, port) = http();
                let options = ["--listen", "127.0.0.1:0", "--upstream", &url(port)];
                let (guard, port) = listening(command(&guard_words(&options)), true);
                (vec![server, guard], vec![url(port)])
            }
            Way::Envoy => {
                let (server, port) = http();
                let envoy = envoy.insert(Envoy::enforcing(port));
                (vec![server], vec![url(envoy.port)])
            }
            Way::GuardedProcess => {
                let guard = guard_words(&["--listen", "127.0.0.1:0"]);
                let words = [&guard[..], &["--".into()], &server].concat();
                let (guard, port) = listening(command(&words), true);
                (vec![guard], vec![url(port)])
            }
        };
        self.visit(&target, calls)
    }

    /// What comes of each of `calls` to the server at a URL, or that a command starts.
    pub(crate) fn visit(self, target: &[String], calls: &Value) -> Vec<Value> {
        let (program, mode) = match self {
            Self::Text => ("reader_text.py", None),
            Self::Httpx(mode) => ("reader_httpx_v1.py", Some(mode)),
            Self::PythonV1 => ("reader_v1.py", None),
            Self::PythonV2(mode) => ("reader_v2.py", Some(mode)),
            Self::Typescript(mode) => ("reader.mjs", Some(mode)),
        };
        let mut client = command(&peers::words(&format!("clients/{program}")));
        // A call that is not answered is given up after a while: many where many are made.
        let is_long = calls.as_array().is_some_and(|calls| calls.len() > 50);
        client.env("READER_WAIT", if is_long { "0.2" } else { "8" });
        let output = client.args(mode).arg(calls.to_string()).args(target).output().unwrap();
        let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
        let read: Vec<&RawValue> =
            serde_json::from_slice(line).unwrap_or_else(|_| panic!("{self:?}: {output:?}"));
        read.into_iter().map(|read| value(read.get())).collect()
    }
}

/// What a client read; some of what they read is too deep or has half a character.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let is_evil = text.contains("\"value\"") && text.contains("\"evil\"");
        json!({ "value": { "n": if is_evil { "evil" } else { "unreadable" } } })
    })
}

/// The URL of a server on this port.
pub(crate) fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// A server that answers the call of each tool with these bytes.
pub(crate) fn script(answers: &[(&str, Value)]) -> Value {
    let answers: Map<_, _> =
        answers.iter().map(|(name, answer)| ((*name).to_owned(), answer.clone())).collect();
    json!({ "answers": answers })
}

impl Reader {
    /// The tools of a script of which this client reads what is not valid. Beside them it makes an ordinary call, which
    /// works.
    pub(crate) fn reads_evil(self, way: Way, script: &Value) -> Vec<String> {
        let tools = script["answers"].as_object().unwrap().keys();
        let calls = ["honest"].into_iter().chain(tools.map(String::as_str)).chain(["honest"]);
        let calls: Vec<_> = calls.collect();
        let read = self.read(way, script, &json!(calls));
        let mut evil = Vec::new();
        for (name, read) in calls.iter().zip(&read) {
            if *name == "honest" {
                assert_eq!(read["value"], json!({ "n": 1 }), "{self:?} {way:?}: {read}");
            } else if read["value"]["n"] == "evil" {
                evil.push((*name).to_owned());
            }
        }
        evil
    }

    /// Without a guard the client reads what is not valid from all of the tools of a script, with one from none.
    pub(crate) fn reads_evil_only_without_a_guard(
        self,
        direct: Way,
        guarded: &[Way],
        script: &Value,
    ) {
        let tools: Vec<_> = script["answers"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            self.reads_evil(direct, script),
            tools,
            "{self:?}: the attack works without a guard"
        );
        let evil = guarded.iter().map(|&way| (way, self.reads_evil(way, script)));
        assert_eq!(evil.filter(|(_, evil)| !evil.is_empty()).collect::<Vec<_>>(), [], "{self:?}");
    }
}
