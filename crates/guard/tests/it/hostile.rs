//! An upstream that means harm: every case of the hostile corpus as a tool's schema, and as what is
//! held to it, while other calls go on.

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_contract::Mode;
use toolbond_guard::Settings;
use toolbond_harness::hostile::{Case, End, cases};
use toolbond_schema::{Limits, Schema};

use crate::lossless::runtime;
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

/// The message with this id; what comes before it is kept in `others`.
async fn get(peer: &mut Peer, others: &mut Vec<Seen>, id: &str) -> Seen {
    loop {
        if let Some(at) = others.iter().position(|message| message.id == id) {
            return others.remove(at);
        }
        others.push(serde_json::from_str(&peer.line().await).unwrap());
    }
}

/// One conversation: a good call goes through whatever else is under way.
struct Talk {
    pair: Pair,
    at_server: Vec<Seen>,
    at_client: Vec<Seen>,
}

impl Talk {
    async fn server_gets(&mut self, id: &str) -> Seen {
        get(&mut self.pair.server, &mut self.at_server, id).await
    }

    async fn client_gets(&mut self, id: &str) -> Seen {
        get(&mut self.pair.client, &mut self.at_client, id).await
    }

    async fn good_call(&mut self, id: &str) {
        self.pair.client.send(&call(id, "good", r#"{"n":1}"#)).await;
        self.server_gets(id).await;
        let result = r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":2}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{result}}}"#);
        self.pair.server.send(&answer).await;
        assert_eq!(self.client_gets(id).await.result.unwrap().get(), result);
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

async fn outlives(script: &Script, revision: &str) {
    let name = &script.name;
    let mut limits = Limits::default();
    limits.fuel = FUEL;
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    settings.max_message = 256 << 20;
    settings.schema = Schema::options().limits(limits);
    let mut pair = Pair::new(settings);
    pair.initialize(revision).await;
    pair.passes(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#).await;
    let tools = &script.tools;
    pair.server
        .send(&format!(r#"{{"jsonrpc":"2.0","id":"list","result":{{"tools":{tools}}}}}"#))
        .await;
    let mut talk = Talk { pair, at_server: Vec::new(), at_client: Vec::new() };
    let list = talk.client_gets("list").await.result.expect(name);
    let list: List = serde_json::from_str(list.get()).unwrap();
    assert_eq!(list.tools[0].name, "good", "{name}");
    let gives = list.tools.iter().find(|tool| tool.name == "gives");
    let checked = gives.is_some_and(|tool| tool.output.is_some());
    if script.ends == End::Refused && script.plain {
        assert!(!checked, "{name}: a schema that is refused is offered");
    }

    talk.pair.client.send(&script.takes).await;
    talk.good_call("good 1").await;
    if gives.is_some() {
        talk.pair.client.send(&call("gives", "gives", "{}")).await;
        talk.server_gets("gives").await;
        talk.pair.server.send(&script.gives).await;
        talk.good_call("good 2").await;
        let answer = talk.client_gets("gives").await;
        let wrong = matches!(script.ends, End::Invalid | End::Unfinished);
        if checked && wrong && script.plain {
            assert!(answer.is_refused(), "{name}: a result that is not valid is let through");
        }
    }
    // It was sent on, refused, or is still looked at when the server ends: it is not forgotten.
    talk.pair.server.close().await;
    assert!(talk.client_gets("takes").await.is_refused(), "{name}");
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
    let runtime = runtime();
    let revisions = ["2025-11-25", "2026-07-28"].into_iter().cycle();
    let scripts: Vec<_> = scripts.iter().zip(revisions).collect();
    // A relay waits a moment for the last words of its server, so several go on at a time.
    for some in scripts.chunks(8) {
        let all = some.iter().map(|(script, revision)| outlives(script, revision));
        runtime.block_on(join_all(all));
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
