//! An upstream that means harm: every case of the hostile corpus as a tool's schema, and as what is
//! held to it, while other calls go on.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_harness::hostile::{Case, End, cases};
use toolbond_schema::{Limits, Schema};

use crate::contract::strict;
use crate::pair::{Pair, Peer};

/// Less than by default, so that the whole corpus is through in seconds, and is not judged on threads
/// that give way to other tests.
const FUEL: u64 = 300_000;

/// What is said about one case, as text: values of this kind are not for a stack of ordinary size.
struct Script {
    name: String,
    ends: End,
    /// Whether the guard has the limits that the case is about.
    plain: bool,
    tools: String,
    takes: String,
    gives: String,
}

impl Script {
    fn of(case: &Case) -> Self {
        let (value, instance) = (case.schema(), case.instance().to_string());
        let schema = value.to_string();
        let inner = match value.as_object() {
            // Its references are about itself, wherever it stands.
            Some(members) if !members.is_empty() && !members.contains_key("$id") => {
                format!(r#"{{"$id":"https://hostile.example/",{}"#, &schema[1..])
            }
            _ => schema.clone(),
        };
        let good = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
        Self {
            name: case.name.clone(),
            ends: case.ends,
            plain: case.limits.is_empty() && !case.assert_formats,
            tools: format!(
                r#"[{{"name":"good","inputSchema":{good},"outputSchema":{good}}},
                {{"name":"takes","inputSchema":{{"type":"object","properties":{{"v":{inner}}}}}}},
                {{"name":"gives","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}]"#
            )
            .replace('\n', ""),
            takes: call("takes", "takes", &format!(r#"{{"v":{instance}}}"#)),
            gives: format!(
                r#"{{"jsonrpc":"2.0","id":"gives","result":{{"content":[],"structuredContent":{instance}}}}}"#
            ),
        }
    }
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
    )
}

/// A message, as far as the test looks at it; the rest may be nested beyond what can be read.
#[derive(Deserialize)]
struct Seen {
    id: String,
    result: Option<Box<RawValue>>,
    error: Option<Value>,
}

impl Seen {
    fn is_refused(&self) -> bool {
        let result = self.result.as_ref().map_or("", |result| result.get());
        self.error.is_some() || result.contains(r#""isError":true"#)
    }
}

/// The client, and the answers that came before the one it waited for.
struct Client {
    peer: Peer,
    others: Vec<Seen>,
}

impl Client {
    fn receives(&mut self, id: &str) -> Seen {
        loop {
            if let Some(at) = self.others.iter().position(|message| message.id == id) {
                return self.others.remove(at);
            }
            self.others.push(serde_json::from_str(&self.peer.line()).unwrap());
        }
    }

    /// A good call goes through whatever else is under way.
    fn calls_good(&mut self, id: &str) {
        self.peer.send(&call(id, "good", r#"{"n":1}"#));
        assert_eq!(self.receives(id).result.unwrap().get(), GOOD);
    }
}

const GOOD: &str = r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":2}}"#;

/// Answers the calls that arrive.
fn serve(mut server: Peer, gives: &str) {
    loop {
        let line = server.line();
        if line.is_empty() {
            return;
        }
        let Seen { id, .. } = serde_json::from_str(&line).unwrap();
        server.send(&match &*id {
            "gives" => gives.to_owned(),
            "takes" => r#"{"jsonrpc":"2.0","id":"takes","error":{"code":1,"message":""}}"#.into(),
            _ => format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{GOOD}}}"#),
        });
    }
}

/// The tools that a client is left with.
#[derive(Deserialize)]
struct List {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(rename = "outputSchema")]
    output: Option<Box<RawValue>>,
}

fn outlives(script: Script, revision: &str) {
    let name = &script.name;
    let mut limits = Limits::default();
    limits.fuel = FUEL;
    let mut settings = strict();
    settings.max_message = 256 << 20;
    settings.schema = Schema::options().limits(limits);
    let mut pair = Pair::greeted(settings, revision);
    pair.passes(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#);
    let tools = &script.tools;
    pair.server.send(&format!(r#"{{"jsonrpc":"2.0","id":"list","result":{{"tools":{tools}}}}}"#));
    let Pair { client, server, .. } = pair;
    std::thread::spawn(move || serve(server, &script.gives));
    let mut client = Client { peer: client, others: Vec::new() };
    let list = client.receives("list").result.expect(name);
    let list: List = serde_json::from_str(list.get()).unwrap();
    assert_eq!(list.tools[0].name, "good", "{name}");
    let gives = list.tools.iter().find(|tool| tool.name == "gives");
    let checked = gives.is_some_and(|tool| tool.output.is_some());
    if script.ends == End::Refused && script.plain {
        assert!(!checked, "{name}: a schema that is refused is offered");
    }

    client.peer.send(&script.takes);
    client.calls_good("good 1");
    if gives.is_some() {
        client.peer.send(&call("gives", "gives", "{}"));
        client.calls_good("good 2");
        let answer = client.receives("gives");
        let wrong = matches!(script.ends, End::Invalid | End::Unfinished);
        if checked && wrong && script.plain {
            assert!(answer.is_refused(), "{name}: a result that is not valid is let through");
        }
    }
    // The guard refuses it, or the server does.
    assert!(client.receives("takes").is_refused(), "{name}");
}

/// Every `of`th case from `part` on, so that parts of the corpus can run at the same time.
fn outlives_part(part: usize, of: usize) {
    let build = move || -> Vec<Script> {
        let all = cases();
        assert!(all.len() > 300);
        all.iter().skip(part).step_by(of).map(Script::of).collect()
    };
    let builder = std::thread::Builder::new().stack_size(1 << 30);
    let scripts = builder.spawn(build).unwrap().join().unwrap();
    for (script, revision) in scripts.into_iter().zip(["2025-11-25", "2026-07-28"].iter().cycle()) {
        outlives(script, revision);
    }
}

#[test]
fn every_case_leaves_other_calls_alone() {
    outlives_part(0, 2);
}

#[test]
fn every_other_case_leaves_other_calls_alone() {
    outlives_part(1, 2);
}
