//! Answers on HTTP that are written so that a guard might pass over them.

use std::sync::{Arc, Mutex};

use toolpact_guard::{Event, Settings};

use crate::lossless_http::Http;

const TOOLS: &str = r#"[{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]"#;

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}],"structuredContent":{"n":1}}}"#;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}"#;

/// What breaks the contract, and must not arrive.
const WRONG: &str = r#"{"content":[],"structuredContent":{"n":"wrong"}}"#;

fn json(body: &[u8], more: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{more}connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn events(body: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    [head.as_bytes(), body].concat()
}

/// A strict guard that knows the tools, and what it says.
async fn strict() -> (Http, Arc<Mutex<Vec<String>>>) {
    let mut settings = Settings::default();
    settings.results = toolpact_contract::Mode::Enforce;
    let said = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&said);
    let listener = Arc::new(move |event: Event| hears.lock().unwrap().push(event.to_string()));
    let http = Http::heard_by(listener, settings, "2025-11-25").await;
    let list = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"tools":{TOOLS}}}}}"#);
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;
    let (_, got) = http.exchange(ask, &json(list.as_bytes(), "")).await;
    assert!(String::from_utf8(got).unwrap().contains("count"));
    (http, said)
}

#[tokio::test]
async fn a_wrong_result_arrives_in_no_disguise() {
    let plain = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{WRONG}}}"#);
    let marked = [b"\xef\xbb\xbf", plain.as_bytes()].concat();
    let latin = [&b"{\"x\":\"\xff\","[..], &plain.as_bytes()[1..]].concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("plain", json(plain.as_bytes(), "")),
        ("as an event", events(format!("data: {plain}\n\n").as_bytes())),
        (
            "after another event",
            events(format!("event: x\ndata: {GOOD}\n\ndata: {plain}\n\n").as_bytes()),
        ),
        (
            "in lines, and nothing follows",
            events(format!("data: {}\r\r", plain.replace(',', ",\rdata:")).as_bytes()),
        ),
        ("encoded", json(plain.as_bytes(), "content-encoding: gzip\r\n")),
        ("with a mark", json(&marked, "")),
        ("as an event, with a mark", events(format!("\u{feff}data: {plain}\n\n").as_bytes())),
        (
            "with two results",
            json(plain.replace("\"result\"", "\"result\":{},\"result\"").as_bytes(), ""),
        ),
        ("not in UTF-8", json(&latin, "")),
        ("in a batch that breaks off", json(format!("[{plain},").as_bytes(), "")),
        ("with a string as id", json(plain.replace("\"id\":1", "\"id\":\"1\"").as_bytes(), "")),
    ];
    let (http, _) = strict().await;
    for (name, out) in cases {
        let (head, got) = http.exchange(CALL, &out).await;
        assert!(head.to_ascii_lowercase().contains("accept-encoding: identity"), "{head}");
        let got = String::from_utf8_lossy(&got);
        let answers = got.contains("isError") || got.contains("error");
        assert!(answers && !got.contains(r#"{"n":"wrong"}"#), "{name}: {got}");
    }
}

#[tokio::test]
async fn what_is_no_message_passes() {
    let (http, said) = strict().await;
    let body = format!("id: 1\ndata: \n\ndata: ping\n\ndata: {GOOD}\n\n");
    let (_, got) = http.exchange(CALL, &events(body.as_bytes())).await;
    let got = String::from_utf8(got).unwrap();
    assert!(got.contains("data: ping") && got.contains(GOOD), "{got}");
    assert_eq!(said.lock().unwrap().len(), 0);
}
