//! What does not have to change leaves byte for byte.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use toolbond_contract::{Mode, Policy};
use toolbond_guard::Settings;

use crate::pair::Pair;

/// Messages of every kind, `ID` to be replaced by an id that is free. None is valid for one reader
/// and not for another; all are written in ways that a writer of JSON would not choose.
pub(crate) const FROM_CLIENT: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":ID,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
    r#"{ "method" : "notifications/initialized" , "jsonrpc":"2.0"}"#,
    r#"{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}},"id":ID,"method":"server/discover","jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"cursor":"p2","_meta":{"progressToken":1}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"resources/read","params":{"uri":"file:\/\/\/a\u0062c","n":1.50e+3}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"vendor/unknown","params":[1, 2,  3],"extra":{"z":1,"a":2}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":12345678901234567890123}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never seen","reason":"ü"}}"#,
    r#"{"jsonrpc":"2.0","id":"s-1","result":{"roots":[]}}"#,
    r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"refused","data":null}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
    r#"[{"jsonrpc":"2.0","id":ID,"method":"ping"} , {"jsonrpc":"2.0","method":"notifications/x"}]"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"subscriptions/listen","params":{"tools":true}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tasks/get","params":{"taskId":"t"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tasks/result","params":{"taskId":"t","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tasks/cancel","params":{"taskId":"t"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"resources/subscribe","params":{"uri":"a:b"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"\u2028"},"argument":{"value":""}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"prompts/get","params":{"name":"p","inputResponses":{"a":{"action":"accept"}},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"vendor/numbers","params":[1.0e5,1E400,-0.0,0.1e-999,100000000000000000000000000000000000001,1e+2]}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"":"","\u0000":"\ud800 \/ \b\f"}}"#,
    "\t {\"jsonrpc\"\t:\"2.0\",\t\"method\":\"notifications/spaced\" } \t ",
    "",
];

pub(crate) const FROM_SERVER: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{"messages":[ ]}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"requestedSchema":{"type":"object"}}}"#,
    r#"{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\ud83d\ude00"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1e-7}}"#,
    r#"{"jsonrpc":"2.0","id":"nobody asked","result":{"x":[1,2,{}]}}"#,
    r#"{"jsonrpc":"2.0","id":"nobody asked","error":{"code":1,"message":""}}"#,
    r#"[{"jsonrpc":"2.0","method":"notifications/a"},{"jsonrpc":"2.0","method":"notifications/b"}]"#,
    r#"{"jsonrpc":"2.0","id":8.0,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":"v","method":"vendor/ask","params":{"n":[1.0e5,1E400,-0.0,340282366920938463463374607431768211456]}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s-1","reason":"\u2029\ud800"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","status":"working"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","x":{"b":1,"a":2}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#,
    " {\"method\"\t:\"notifications/spaced\" ,\t\"jsonrpc\":\"2.0\" } ",
    "",
];

/// A list and results that keep their contract, and are written in unusual ways.
pub(crate) const TOOLS: &str = r#"[ {"name":"echo" ,"description":"Ech\u006f.","x-unknown":1.0,"inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e3}}},"outputSchema":{"type":"object","required":["n"]}}, {"inputSchema":{"type":"object"},"name":"plain","description":"Plain.","annotations":{ }}]"#;
pub(crate) const CALLS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools\/call","params":{"name":"echo","arguments":{"n":1.0e2},"x":1}}"#,
    r#"{"id":ID,"params":{"arguments":null,"name":"pl\u0061in","_meta":{"progressToken":5}},"jsonrpc":"2.0","method":"tools/call"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"plain","inputResponses":{"a":{"action":"accept","content":{}}},"requestState":"\u0073","task":{"ttl":6.0e4}}}"#,
];
pub(crate) const RESULTS: &[&str] = &[
    r#"{"result":{"structuredContent":{"n":123456789012345678901234567890},"content":[{"type":"text","text":"\u0061"}], "_meta":{}},"id":ID,"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[ ],"isError":true}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{ }}},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"task":{"taskId":"t"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such tool"}}"#,
];

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Plays a generated conversation of everything but tools.
async fn converse(settings: Settings, script: &[(bool, usize)]) {
    let looks = settings.is_inspecting();
    let mut pair = Pair::new(settings);
    // Messages that come before the era of the server is known may wait.
    pair.initialize("2025-11-25").await;
    for (n, &(from_client, which)) in script.iter().enumerate() {
        if from_client {
            let id = if n % 2 == 0 { n.to_string() } else { format!("\"id {n}\"") };
            pair.passes(&FROM_CLIENT[which % FROM_CLIENT.len()].replace("ID", &id)).await;
            continue;
        }
        let text = FROM_SERVER[which % FROM_SERVER.len()];
        // A result that nobody asked for leaves where nothing is looked at.
        if !(looks && text.contains(r#""nobody asked","result""#)) {
            pair.comes(text).await;
        }
    }
    assert_eq!(pair.said(), [""; 0]);
}

pub(crate) fn settings(name: &str) -> Settings {
    match name {
        "off" => Settings::off(),
        "default" => Settings::default(),
        _ => {
            let mut settings = Settings::default();
            settings.tools = Some(Policy::Reject);
            settings.results = Mode::Enforce;
            settings
        }
    }
}

#[test]
fn every_kind_of_message_passes_both_ways() {
    let script: Vec<_> = (0..FROM_CLIENT.len())
        .map(|n| (true, n))
        .chain((0..FROM_SERVER.len()).map(|n| (false, n)))
        .collect();
    for name in ["off", "default", "strict"] {
        runtime().block_on(converse(settings(name), &script));
    }
}

#[test]
fn generated_conversations_pass() {
    let scripts = proptest::collection::vec((any::<bool>(), 0..64_usize), 1..40);
    let names = select(vec!["off", "default", "strict"]);
    let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
    runner
        .run(&(names, scripts), |(name, script)| {
            runtime().block_on(converse(settings(name), &script));
            Ok(())
        })
        .unwrap();
}

#[test]
fn tools_and_calls_that_keep_the_contract_pass() {
    for name in ["off", "default", "strict"] {
        for revision in ["2025-06-18", "2026-07-28"] {
            runtime().block_on(async {
                let mut pair = Pair::new(settings(name));
                pair.initialize(revision).await;
                pair.passes(r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#).await;
                let list = format!(r#"{{"id":0,"result":{{ "tools":{TOOLS},"ttlMs":5}},"x":0}}"#);
                pair.comes(&list).await;
                for (n, call) in CALLS.iter().enumerate() {
                    for (m, result) in RESULTS.iter().enumerate() {
                        let id = (1 + n * RESULTS.len() + m).to_string();
                        pair.passes(&call.replace("ID", &id)).await;
                        pair.comes(&result.replace("ID", &id)).await;
                    }
                }
                assert_eq!(pair.said(), [""; 0], "{name} {revision}");
            });
        }
    }
}

#[test]
fn line_breaks_stay_as_they_are() {
    runtime().block_on(async {
        let mut pair = Pair::new(Settings::default());
        pair.client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\r\n").await;
        assert!(pair.server.line().await.ends_with("}\r\n"));
    });
}
