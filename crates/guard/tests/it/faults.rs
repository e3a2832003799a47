//! Peers that break off, and peers that break the protocol.

use serde_json::{Value, json};
use toolbond_guard::stdio::End;
use toolbond_guard::{MemoryLimit, Settings};
use toolbond_harness::mcp::request;

use crate::contract::strict;
use crate::fetch::page;
use crate::pair::{Pair, result};

/// A guard, and a server with these requests open.
fn with_open(ids: impl IntoIterator<Item = usize>, settings: Settings) -> Pair {
    let mut pair = Pair::new(settings);
    for id in ids {
        pair.passes(&request(id, "ping"));
    }
    pair
}

#[track_caller]
fn assert_fails(answer: &Value, id: usize, message: &str) {
    assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(id), &json!(message)));
}

#[test]
fn a_server_that_ends_leaves_no_request_open() {
    const MANY: usize = 1000;
    let mut pair = with_open(0..MANY, Settings::default());
    // Held: its tool is not known, and the server ends instead of listing it.
    pair.client.send(r#"{"id":1000,"method":"tools/call","params":{"name":"t"}}"#);
    assert_eq!(pair.server.json()["method"], "tools/list");
    pair.server.close();
    for id in [MANY].into_iter().chain(0..MANY) {
        let answer = pair.client.json();
        assert_fails(&answer, id, "the server closed its output before it answered");
        assert_eq!(answer["error"]["code"], -32603);
    }
    assert_eq!(pair.end(), End::Server);
}

#[test]
fn chatter_is_left_out_and_the_session_goes_on() {
    let mut pair = with_open([1], Settings::default());
    pair.server.send("Server running on stdio");
    pair.server.send_bytes(b"\xff\xfe\x00\n");
    pair.server.send("[INFO] a request came");
    pair.server.send("{'level': 'info'}");
    pair.comes(&result(1, "{}"));
    assert_eq!(
        pair.said()[0],
        "warning: server: skipped output that is not a message: `Server running on stdio`"
    );
}

#[test]
fn a_broken_message_answers_the_request_that_it_names_or_all() {
    let nan = result(1, r#"{"n":NaN}"#);
    let broken = "the server sent a broken message";
    let mut pair = with_open([1, 2], Settings::default());
    assert_fails(&pair.tell(&nan), 1, broken);
    pair.comes(&result(2, "{}"));
    pair.passes(&request(1, "ping"));
    pair.passes(&request(2, "ping"));
    // It names none: it may be the answer to any.
    assert_fails(&pair.tell(r#"{"result":{"content":[{"type":"te"#), 1, broken);
    assert_fails(&pair.client.json(), 2, broken);
    pair.passes(&request(1, "ping"));
    pair.comes(&result(1, "{}"));

    let mut pair = with_open([1], Settings::off());
    pair.comes(&nan);
    pair.comes("[INFO] a request came");
}

#[test]
fn an_answer_to_no_open_request_is_left_out() {
    let wrong = result(1, r#"{"structuredContent":{"n":"x"}}"#);
    let tools = r#"[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"properties":{"n":{"type":"integer"}}}}]"#;
    let mut pair = Pair::new(strict());
    pair.client.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let asked = pair.server.json();
    // Not sent yet.
    pair.server.send(&wrong);
    pair.server.send(&page(&asked, tools, None));
    assert_eq!(pair.server.json()["method"], "tools/call");
    pair.comes(r#"{"id":1,"error":{"code":1,"message":"no"}}"#);
    // Answered before; ids that some client takes for it; no id at all.
    for id in ["1", r#""\ufeff1""#, r#""１""#, "null"] {
        pair.server.send(&wrong.replace("1,\"res", &format!("{id},\"res")));
    }
    pair.server.send(&format!("[{wrong}]"));
    pair.comes(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
    let said = "info: server: dropped an answer to request 1, which is not pending";
    assert_eq!(pair.said().iter().filter(|line| *line == said).count(), 3, "{:?}", pair.said());
}

#[test]
fn a_message_that_is_too_long_is_answered_for() {
    let mut small = Settings::default();
    small.max_message = 1000;
    let mut pair = with_open([1, 2], small);
    let long = "x".repeat(5_000_000);
    let answer = pair.tell(&format!(r#"{{"result":{{"x":"{long}"}},"id":1}}"#));
    assert_fails(&answer, 1, "message of 5000027 bytes exceeds the limit of 1000 (--max-message)");
    pair.comes(&result(2, "{}"));

    let answer = pair.ask(&format!(r#"{{"method":"ping","x":"{long}","id":3}}"#));
    assert_eq!(answer["id"], 3);
    pair.passes(&request(4, "ping"));
}

#[test]
fn a_client_that_breaks_the_protocol_is_told() {
    let mut pair = with_open([1], Settings::default());
    for (text, code) in [
        ("hello", -32700),
        (r#"{"id":2,"method":"a","method":"b"}"#, -32600),
        (r#"{"id":2,"method":"tools/call","params":{"name":7}}"#, -32602),
        // In use.
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/list"}"#, -32600),
    ] {
        assert_eq!(pair.ask(text)["error"]["code"], code, "{text}");
    }
    pair.passes(&request(2, "ping"));
}

#[test]
fn a_client_that_closes_its_side_still_gets_its_answers() {
    let mut pair = with_open([1], Settings::default());
    pair.client.close();
    assert_eq!(pair.server.line(), "");
    pair.comes(&result(1, "{}"));
    pair.server.close();
    assert_eq!(pair.client.line(), "");
    assert_eq!(pair.end(), End::Server);
}

#[test]
fn a_client_that_is_gone_ends_the_relay() {
    let Pair { client, mut server, relay, .. } = Pair::new(Settings::default());
    drop(client);
    assert_eq!(server.line(), "");
    assert_eq!(relay.join().unwrap(), End::Client);
}

#[test]
fn open_requests_take_a_part_of_the_memory() {
    const ALL: usize = 400;
    let mut pair = Pair::within(Settings::off(), MemoryLimit::new(4 << 20));
    let ping = |n: usize| format!(r#"{{"jsonrpc":"2.0","id":"{n:01000}","method":"ping"}}"#);
    for n in 0..ALL {
        pair.client.send(&ping(n));
    }
    // The first ones wait for an answer, and there is no memory for the others.
    let (mut refused, last) = (0, format!("{:01000}", ALL - 1));
    loop {
        let answer = pair.client.json();
        assert!(answer["error"]["message"].as_str().unwrap().contains("--max-memory"), "{answer}");
        refused += 1;
        if answer["id"] == *last {
            break;
        }
    }
    let open = ALL - refused;
    assert!((50..=256).contains(&open), "{open} are open");
    for n in 0..open {
        assert_eq!(pair.server.line(), format!("{}\n", ping(n)));
    }
    pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":"{:01000}","result":{{}}}}"#, 0));
    pair.passes(&ping(ALL));
    let answer = pair.ask(&ping(ALL + 1));
    assert!(answer["error"].is_object(), "{answer}");
}
