//! What does not have to change leaves byte for byte.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use toolbond_contract::Policy;
use toolbond_guard::Settings;

use crate::contract::strict;
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
const TOOLS: &str = r#"[ {"name":"echo" ,"description":"Ech\u006f.","x-unknown":1.0,"inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e3}}},"outputSchema":{"type":"object","required":["n"]}}, {"inputSchema":{"type":"object"},"name":"plain","description":"Plain.","annotations":{ }}]"#;
const CALLS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools\/call","params":{"name":"echo","arguments":{"n":1.0e2},"x":1}}"#,
    r#"{"id":ID,"params":{"arguments":null,"name":"pl\u0061in","_meta":{"progressToken":5}},"jsonrpc":"2.0","method":"tools/call"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"plain","inputResponses":{"a":{"action":"accept","content":{}}},"requestState":"\u0073","task":{"ttl":6.0e4}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"echo","task":{"ttl":6.0e4}}}"#,
];
const RESULTS: &[&str] = &[
    r#"{"result":{"structuredContent":{"n":123456789012345678901234567890},"content":[{"type":"text","text":"\u0061"}], "_meta":{}},"id":ID,"jsonrpc":"2.0"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[ ],"isError":true}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{ }}},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"task":{"taskId":"t"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such tool"}}"#,
];

pub(crate) const SETTINGS: [&str; 3] = ["off", "default", "strict"];

pub(crate) fn settings(name: &str) -> Settings {
    match name {
        "off" => Settings::off(),
        "default" => Settings::default(),
        _ => {
            let mut settings = strict();
            settings.tools = Some(Policy::Reject);
            settings
        }
    }
}

/// Whether a message of a server leaves as it is: a result that nobody asked for does where nothing is looked at.
pub(crate) fn leaves(settings: &str, message: &str) -> bool {
    settings == "off" || !message.contains(r#""id":"nobody asked","result""#)
}

/// Whether a client of `revision` that sent `call` knows a result for what it says that it is.
fn is_known(revision: &str, call: &str, result: &str) -> bool {
    let is_legacy = revision == "2025-11-25";
    if result.contains("\"task\"") {
        return is_legacy && call.contains("\"task\"");
    }
    !(is_legacy && result.contains("\"resultType\""))
}

/// Plays lists and calls that keep their contract on every kind of guard that `build` makes; `pass` carries a request
/// and its answer.
pub(crate) fn play_tools<G>(build: impl Fn(&str, &str) -> G, pass: impl Fn(&mut G, &str, &str)) {
    for name in SETTINGS {
        for revision in ["2025-11-25", "2026-07-28"] {
            let mut guard = build(name, revision);
            let list = format!(r#"{{"id":0,"result":{{ "tools":{TOOLS},"ttlMs":5}},"x":0}}"#);
            pass(&mut guard, r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#, &list);
            for (n, call) in CALLS.iter().enumerate() {
                for (m, result) in RESULTS.iter().enumerate() {
                    // What the client takes for a final result breaks the schema of the first tool.
                    let is_judged = name == "strict" && call.contains("\"echo\"");
                    if is_judged && !is_known(revision, call, result) {
                        continue;
                    }
                    let id = format!("\"{n} {m}\"");
                    pass(&mut guard, &call.replace("ID", &id), &result.replace("ID", &id));
                }
            }
        }
    }
}

/// Plays a conversation of everything but tools: who sends which message.
fn converse(name: &str, script: impl IntoIterator<Item = (bool, usize)>) {
    // Messages that come before the era of the server is known may wait.
    let mut pair = Pair::greeted(settings(name), "2025-11-25");
    for (n, (from_client, which)) in script.into_iter().enumerate() {
        if from_client {
            let id = if n % 2 == 0 { n.to_string() } else { format!("\"id {n}\"") };
            pair.passes(&FROM_CLIENT[which % FROM_CLIENT.len()].replace("ID", &id));
            continue;
        }
        let text = FROM_SERVER[which % FROM_SERVER.len()];
        if leaves(name, text) {
            pair.comes(text);
        }
    }
    assert_eq!(pair.said(), [""; 0]);
}

#[test]
fn every_kind_of_message_passes_both_ways() {
    for name in SETTINGS {
        let (client, server) = (0..FROM_CLIENT.len(), 0..FROM_SERVER.len());
        converse(name, client.map(|n| (true, n)).chain(server.map(|n| (false, n))));
    }
}

#[test]
fn generated_conversations_pass() {
    let scripts = proptest::collection::vec((any::<bool>(), 0..64_usize), 1..40);
    let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
    let run = runner.run(&(select(&SETTINGS[..]), scripts), |(name, script)| {
        converse(name, script);
        Ok(())
    });
    run.unwrap();
}

#[test]
fn tools_and_calls_that_keep_the_contract_pass() {
    let pass = |pair: &mut Pair, question: &str, answer: &str| {
        pair.passes(question);
        pair.comes(answer);
        assert_eq!(pair.said(), [""; 0]);
    };
    play_tools(|name, revision| Pair::greeted(settings(name), revision), pass);
}

#[test]
fn line_breaks_stay_as_they_are() {
    let mut pair = Pair::new(Settings::default());
    pair.client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\r\n");
    assert!(pair.server.line().ends_with("}\r\n"));
}
