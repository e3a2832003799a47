//! Clients of the official SDKs, and what they read of a server that answers with the bytes it is told to.

use std::fs;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::peers;

use crate::recorder::{Reached, Way};

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

/// A server that answers with the bytes of a script.
pub(crate) struct Scripted {
    way: Way,
    tools: Vec<String>,
    reached: Reached,
    _folder: Folder,
}

impl Scripted {
    /// Starts it with a script, which `scripted.py` describes, so that clients reach it this way.
    pub(crate) fn start(way: Way, script: &Value) -> Self {
        let folder = Folder::new();
        let file = folder.join("script.json");
        fs::write(&file, script.to_string()).unwrap();
        let answers = script["answers"].as_object();
        let tools = answers.into_iter().flat_map(Map::keys).cloned().collect();
        Self { way, tools, reached: way.reach("scripted.py", &[&file]), _folder: folder }
    }

    /// What `reader` reads for each of `calls`, names of tools or requests.
    pub(crate) fn read(&self, reader: Reader, calls: &Value) -> Vec<Value> {
        let (program, mode) = match reader {
            Reader::Text => ("reader_text.py", None),
            Reader::Httpx(mode) => ("reader_httpx_v1.py", Some(mode)),
            Reader::PythonV1 => ("reader_v1.py", None),
            Reader::PythonV2(mode) => ("reader_v2.py", Some(mode)),
            Reader::Typescript(mode) => ("reader.mjs", Some(mode)),
        };
        let mut client = peers::command(&format!("clients/{program}"));
        client.args(mode).arg(calls.to_string()).args(&self.reached.target);
        let output = client.output().unwrap();
        let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
        let read: Vec<&RawValue> =
            serde_json::from_slice(line).unwrap_or_else(|_| panic!("{reader:?}: {output:?}"));
        read.into_iter().map(|read| value(read.get())).collect()
    }

    /// Those of `tools` of which `reader` reads what is not valid. Beside them it makes ordinary calls, which work.
    pub(crate) fn reads_evil<'a>(&self, reader: Reader, tools: &[&'a str]) -> Vec<&'a str> {
        let calls = [&["honest"], tools, &["honest"]].concat();
        let read = self.read(reader, &json!(calls));
        let mut evil = Vec::new();
        for (name, read) in calls.into_iter().zip(&read) {
            if name == "honest" {
                assert_eq!(read["value"], json!({ "n": 1 }), "{reader:?} {:?}: {read}", self.way);
            } else if read["value"]["n"] == "evil" {
                evil.push(name);
            }
        }
        evil
    }

    /// The tools of its script.
    pub(crate) fn tools(&self) -> Vec<&str> {
        self.tools.iter().map(String::as_str).collect()
    }
}

/// What a client read; some of what they read is too deep or has half a character.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let is_evil = text.contains("\"value\"") && text.contains("\"evil\"");
        json!({ "value": { "n": if is_evil { "evil" } else { "unreadable" } } })
    })
}

/// A script that answers the call of each tool with these bytes.
pub(crate) fn script(answers: &[(&str, Value)]) -> Value {
    let answers: Map<_, _> =
        answers.iter().map(|(name, answer)| ((*name).to_owned(), answer.clone())).collect();
    json!({ "answers": answers })
}
