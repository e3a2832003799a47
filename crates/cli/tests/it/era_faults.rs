//! Calls across eras while clients and servers misbehave: every call gets its own answer or an error, and nothing is left.
//! The server is `rmcp` where it is no shell.

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, Talk};
use toolbond_harness::http::body;
use toolbond_harness::mcp::{self, ask_modern, call};
use toolbond_harness::peers;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

/// What one guard lets wait at a time in one conversation.
const MOST: usize = 1024;

/// More calls than that.
const CALLS: usize = MOST + 76;

fn server() -> String {
    peers::words("rmcp/era_server").remove(0)
}

/// A call of 2026-07-28 by a client with this name.
fn modern(client: &str, id: usize, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool, "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} }
    } } })
}

fn accepted(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// The call, sent again with the answer `name` to what `asked` asks.
fn retry(mut call: Value, asked: &Value, name: &str) -> Value {
    let questions =
        asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let answers: Value = questions.keys().map(|key| (key.clone(), accepted(name))).collect();
    call["params"]["inputResponses"] = answers;
    call["params"]["requestState"] = asked["result"]["requestState"].clone();
    call
}

fn send(port: u16, message: &Value) -> Value {
    body(&ask_modern(port, "/era/mcp", &message.to_string()))
}

/// A guard on HTTP in front of a process of an earlier era.
fn start(more: &str) -> (Configured, u16) {
    let text = format!("[servers.era]\ncommand = '{}'\nargs = ['legacy']\n{more}\n", server());
    let guard = Configured::start(&text);
    let port = guard.port("/era/mcp");
    (guard, port)
}

/// Ends the processes that `guard` has started, as if they had crashed.
fn kill_children(guard: &Process) {
    for child in guard.children("") {
        Command::new("kill").args(["-9", &child.to_string()]).status().unwrap();
    }
}

#[test]
fn a_state_is_good_once_for_its_client_and_its_request() {
    let (_guard, port) = start("");
    let [ada, bob] = ["ada", "bob"].map(|client| modern(client, 1, "ask_name"));
    let [for_ada, for_bob] = [&ada, &bob].map(|call| send(port, call));
    let refused = |message: &Value, what: &str| {
        let answer = send(port, message);
        assert_eq!(answer["error"]["code"], -32602, "{what}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.starts_with("#/params/requestState: "), "{what}: {text}");
    };
    let own = retry(ada.clone(), &for_ada, "Ada");
    let state = own["params"]["requestState"].as_str().unwrap();
    let mut altered = state.to_owned();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    let with_state = |state: &str| {
        let mut message = own.clone();
        message["params"]["requestState"] = state.into();
        message
    };
    refused(&with_state("1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "forged");
    refused(&with_state(""), "empty");
    refused(&with_state(&altered), "altered");
    refused(&retry(bob.clone(), &for_ada, "Mallory"), "foreign");
    refused(&retry(modern("ada", 2, "ask_model"), &for_ada, "Mallory"), "of another request");
    assert_eq!(send(port, &own)["result"]["content"][0]["text"], "Hello, Ada");
    refused(&own, "replayed");
    let answer = send(port, &retry(bob, &for_bob, "Bob"));
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Bob");
}

#[test]
fn clients_beyond_the_bound_are_told_and_the_others_get_their_own_answers() {
    const CLIENTS: usize = 40;
    let (guard, port) = start("max-sessions = 8\nidle-seconds = 1");
    assert_eq!(
        send(port, &modern("first", 1, "ask_name"))["result"]["resultType"],
        "input_required"
    );
    let idle = guard.process.descriptors();
    let ask_all = || {
        let clients = (0..CLIENTS).map(|n| {
            thread::spawn(move || {
                let call = modern(&format!("client {n}"), 1, "ask_name");
                let asked = send(port, &call);
                (n, call, asked)
            })
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
    };
    let (asked, refused): (Vec<_>, Vec<_>) =
        ask_all().into_iter().partition(|(.., answer)| answer.get("error").is_none());
    assert!(!asked.is_empty() && asked.len() < 8, "{} were asked", asked.len());
    for (.., answer) in refused {
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("max-sessions"), "{text}");
    }
    // One more is for requests whose clients cannot be asked.
    let processes = guard.process.children("era_server").len();
    assert!(processes <= 9, "{processes} processes");
    for (n, call, question) in asked.into_iter().rev() {
        let answer = send(port, &retry(call, &question, &format!("name {n}")));
        assert_eq!(answer["result"]["content"][0]["text"], format!("Hello, name {n}"));
    }
    guard.process.wait_for_descriptors(idle + 2);
}

#[test]
fn one_client_leaves_processes_to_others() {
    let (_guard, port) = start("max-sessions = 8");
    let ask = |client: &str, id| send(port, &modern(client, id, "ask_name"));
    let is_asked = |answer: &Value| answer["result"]["resultType"] == "input_required";
    let greedy: Vec<_> = (0..8).map(|id| ask("greedy", id)).collect();
    assert!(greedy[..2].iter().all(is_asked), "{greedy:?}");
    for answer in &greedy[2..] {
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("a quarter of max-sessions"), "{text}");
    }
    for client in ["ada", "bob"] {
        assert!(is_asked(&ask(client, 1)), "{client}");
    }
}

#[test]
fn a_server_that_ends_takes_what_waits_along_and_the_next_call_works() {
    let (guard, port) = start("");
    let call = modern("ada", 1, "ask_name");
    let asked = send(port, &call);
    kill_children(&guard.process);
    wait_until("the process has ended", || guard.process.children("era_server").is_empty());
    let answer = send(port, &retry(call.clone(), &asked, "Ada"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let asked = send(port, &call);
    let answer = send(port, &retry(call, &asked, "Ada"));
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada");
}

/// A guard in front of a shell that knows three methods, and ignores everything else. It answers with strings for
/// numbers.
fn shell() -> Talk {
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    let tools = r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}"#;
    let answer =
        |result: &str| format!(r#"echo '{{"jsonrpc":"2.0","id":"'"$id"'","result":{result}}}'"#);
    let script = format!(
        r#"while read -r line; do
            id=$(printf '%s' "$line" | sed 's/.*"id":"\{{0,1\}}\([^,"]*\).*/\1/')
            case "$line" in
                *'"initialize"'*) {};; *tools/list*) {};; *tools/call*) {};;
            esac
        done"#,
        answer(hello),
        answer(tools),
        answer(r#"{"content":[]}"#),
    );
    Talk::start(&[], &["sh", "-c", &script])
}

#[test]
fn a_server_that_ignores_what_it_does_not_know_and_writes_strings_for_numbers_is_understood() {
    let mut old = shell();
    assert_eq!(old.greet(&json!({}))["id"], 0);
    let mut new = shell();
    for (talk, id) in [(&mut old, 1), (&mut new, 2)] {
        let list = mcp::request(id, "tools/list");
        let (_, modern) = mcp::modern("/mcp", &list);
        let list = if id == 1 { list } else { modern };
        let answer = talk.ask(&list);
        assert_eq!(
            (&answer["id"], &answer["result"]["tools"][0]["name"]),
            (&json!(id), &json!("a"))
        );
    }
    let answer = new.ask(&modern("ada", 3, "a").to_string());
    assert_eq!((&answer["id"], &answer["result"]["resultType"]), (&json!(3), &json!("complete")));
}

/// A guard on standard input and output in front of a server of `era`.
fn talk(era: &str) -> Talk {
    Talk::start(&[], &[&server(), era])
}

fn greet(talk: &mut Talk) {
    let answer = talk.greet(&json!({ "elicitation": {} }));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

/// Adds two numbers, and checks that the sum is the next message.
fn adds(talk: &mut Talk, id: u32) {
    let answer = talk.ask(&call(id, "add", &json!({ "a": 20, "b": 22 })));
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(id), &json!("42"))
    );
}

fn ask_name(id: usize) -> String {
    call(u32::try_from(id).unwrap(), "ask_name", &json!({}))
}

fn answer_to(question: &Value, name: &str) -> String {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted(name) }).to_string()
}

#[test]
fn a_legacy_client_that_answers_never_twice_or_late_disturbs_nobody() {
    let mut talk = talk("modern");
    greet(&mut talk);
    let _never = talk.ask(&ask_name(1));
    adds(&mut talk, 2);
    let question = talk.ask(&ask_name(3));
    let answer = answer_to(&question, "Ada");
    assert_eq!(talk.ask(&answer)["result"]["content"][0]["text"], "Hello, Ada");
    talk.send(&answer);
    adds(&mut talk, 4);
    let late = talk.ask(&ask_name(5));
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    let withdrawn = talk.ask(cancelled);
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], late["id"]);
    talk.send(&answer_to(&late, "Ada"));
    talk.send(r#"{"jsonrpc":"2.0","id":"made up","result":{}}"#);
    adds(&mut talk, 6);
}

#[test]
fn a_modern_server_that_ends_takes_what_waits_along() {
    let mut talk = talk("modern");
    greet(&mut talk);
    talk.ask(&ask_name(1));
    kill_children(&talk.guard);
    let answer = talk.answer();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("the server ended"), "{answer}");
    assert!(!talk.guard.wait().success());
}

#[test]
fn a_thousand_calls_of_a_legacy_client_wait_at_once() {
    let mut talk = talk("modern");
    greet(&mut talk);
    let mut questions = Vec::new();
    let mut refused = 0;
    for id in 1..=CALLS {
        let message = talk.ask(&ask_name(id));
        if message.get("method").is_some() {
            questions.push(message);
        } else {
            let text = message["error"]["message"].as_str().unwrap_or_else(|| panic!("{message}"));
            assert!(text.contains("1024 requests wait for input"), "{text}");
            refused += 1;
        }
    }
    assert_eq!((questions.len(), refused), (MOST, CALLS - MOST));
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (n, question) in questions.iter().enumerate().rev() {
        let answer = talk.ask(&answer_to(question, &n.to_string()));
        ids.insert(answer["id"].as_u64().unwrap());
        names.insert(answer["result"]["content"][0]["text"].to_string());
    }
    assert_eq!((ids.len(), names.len()), (MOST, MOST));
    adds(&mut talk, 5000);
}

#[test]
fn a_thousand_calls_of_a_modern_client_wait_at_once() {
    let mut talk = talk("legacy");
    let mut asked = Vec::new();
    let mut refused = 0;
    for id in 1..=CALLS {
        let message = talk.ask(&modern("ada", id, "ask_name").to_string());
        if message.get("error").is_none() {
            asked.push(message);
        } else {
            let text = message["error"]["message"].as_str().unwrap();
            assert!(text.contains("1024 requests wait for input"), "{text}");
            refused += 1;
        }
    }
    assert_eq!((asked.len(), refused), (MOST, CALLS - MOST));
    let mut names = BTreeSet::new();
    for (n, question) in asked.iter().enumerate().rev() {
        let id = 10_000 + n;
        let again = retry(modern("ada", id, "ask_name"), question, &n.to_string());
        let answer = talk.ask(&again.to_string());
        assert_eq!(answer["id"], id, "{answer}");
        let name = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(name, format!("Hello, {n}"));
        names.insert(name.to_owned());
    }
    assert_eq!(names.len(), MOST);
}
