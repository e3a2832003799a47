//! Answers on HTTP that are written so that a guard might pass over them.

use std::sync::{Arc, Mutex};

use tokio::io::AsyncWriteExt as _;
use toolbond_guard::{Event, Settings};

use crate::lossless_http::{Http, rest};

const TOOLS: &str = r#"[{"name":"count","description":"Counts.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]"#;

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}],"structuredContent":{"n":1}}}"#;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}"#;

/// What breaks the contract, and must not arrive.
const WRONG: &str = r#"{"content":[],"structuredContent":{"n":"wrong"}}"#;

fn json(body: &[u8], more: &str) -> Vec<u8> {
    let more = format!("content-type: application/json\r\n{more}");
    of_type(&more, body)
}

fn events(body: &[u8]) -> Vec<u8> {
    of_type("content-type: text/event-stream\r\n", body)
}

fn of_type(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{headers}connection: close\r\n\r\n").as_bytes(), body].concat()
}

/// A strict guard that knows the tools, and what it says.
async fn strict() -> (Http, Arc<Mutex<Vec<String>>>) {
    let mut settings = Settings::default();
    settings.results = toolbond_contract::Mode::Enforce;
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
        ("after two marks", events(format!("\u{feff}\u{feff}data: {plain}\n\n").as_bytes())),
        (
            "after a mark in Latin-1",
            events(format!("\u{ef}\u{bb}\u{bf}data: {plain}\n\n").as_bytes()),
        ),
        (
            "after a mark, and nothing follows",
            events(format!("\u{feff}data: [{plain}]\r\r").as_bytes()),
        ),
        (
            "as another kind of JSON",
            of_type("Content-Type: Application/JSON-rpc\r\n", plain.as_bytes()),
        ),
        (
            "as a kind of JSON",
            of_type("content-type: application/mcp+json; a=b\r\n", plain.as_bytes()),
        ),
        (
            "as two kinds",
            of_type(
                "content-type: text/plain\r\ncontent-type: application/json\r\n",
                plain.as_bytes(),
            ),
        ),
        (
            "as JSON and as events",
            of_type("content-type: application/json; text/event-stream\r\n", plain.as_bytes()),
        ),
        (
            "as a kind of events",
            of_type(
                "content-type: Text/Event-Stream-2\r\n",
                format!("data: {plain}\n\n").as_bytes(),
            ),
        ),
        ("for another request", json(plain.replace("\"id\":1", "\"id\":2").as_bytes(), "")),
        ("with a string as id", json(plain.replace("\"id\":1", "\"id\":\"1\"").as_bytes(), "")),
    ];
    let (http, _) = strict().await;
    for (name, out) in cases {
        let (head, got) = http.exchange(CALL, &out).await;
        assert!(head.to_ascii_lowercase().contains("accept-encoding: identity"), "{head}");
        let got = String::from_utf8_lossy(&got);
        // A second answer is left out.
        let answers = got.contains("isError") || got.contains("error") || got.contains(GOOD);
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

#[tokio::test]
async fn an_answer_on_another_stream_is_checked_or_left_out() {
    let (http, said) = strict().await;
    let wrong = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{WRONG}}}"#);
    let twice = wrong.replace("\"result\"", "\"result\":{},\"result\"");
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#;
    for (target, question) in [("GET /mcp", ""), ("POST /mcp", ping)] {
        let (_, waits, mut own) = http.ask("POST /mcp", CALL).await;
        own.write_all(&events(b": wait\n\n")).await.unwrap();
        let (_, client, mut server) = http.ask(target, question).await;
        let body = format!("data: {wrong}\n\ndata: {answer}\n\ndata: {twice}\n\ndata: {GOOD}\n\n");
        server.write_all(&events(body.as_bytes())).await.unwrap();
        drop(server);
        let got = String::from_utf8(rest(client).await).unwrap();
        assert!(!got.contains(r#"{"n":"wrong"}"#) && !got.contains(GOOD), "{got}");
        // On a stream for whatever comes it is the answer; on that of another request it is not.
        assert_eq!(got.contains("isError"), target == "GET /mcp", "{got}");
        assert_eq!(got.contains(answer), target == "POST /mcp", "{got}");
        drop(own);
        rest(waits).await;
    }
    let said = said.lock().unwrap();
    let dropped = said.iter().filter(|text| text.contains("request \"p\", which is not pending"));
    assert_eq!(dropped.count(), 1, "{said:?}");
}

#[tokio::test]
async fn an_answer_under_another_id_is_held_to_the_request_of_its_stream() {
    let (http, _) = strict().await;
    for id in ["7", "\"x\"", "0"] {
        let wrong = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{WRONG}}}"#);
        let event = format!("data: {wrong}\n\n");
        for out in [json(wrong.as_bytes(), ""), events(event.as_bytes())] {
            let (_, got) = http.exchange(CALL, &out).await;
            let got = String::from_utf8(got).unwrap();
            assert!(got.contains("isError") && !got.contains(r#"{"n":"wrong"}"#), "{id}: {got}");
        }
    }
}

#[tokio::test]
async fn a_stream_is_resumed_with_answers_that_came_before() {
    let (http, said) = strict().await;
    let event = format!("id: 7\ndata: {GOOD}\n\n");
    http.exchange(CALL, &events(event.as_bytes())).await;
    let resume = "GET /mcp HTTP/1.1\r\nlast-event-id: 7\r\nx:";
    let (_, client, mut server) = http.ask(resume, "").await;
    let failed = r#"{"jsonrpc":"2.0","id":"unknown","error":{"code":1,"message":""}}"#;
    let wrong = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{WRONG}}}"#);
    let body = format!("{event}data: {failed}\n\ndata: {wrong}\n\n");
    server.write_all(&events(body.as_bytes())).await.unwrap();
    drop(server);
    let got = String::from_utf8(rest(client).await).unwrap();
    assert!(got.contains(&event) && got.contains(failed), "{got}");
    assert!(!got.contains(r#"{"n":"wrong"}"#), "{got}");
    assert_eq!(said.lock().unwrap().iter().filter(|said| said.contains("error")).count(), 1);
}

#[tokio::test]
async fn calls_are_checked_at_whatever_path() {
    let (http, _) = strict().await;
    let wrong = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{WRONG}}}"#);
    for path in ["/mcp/", "/MCP", "//mcp", "/%6dcp//?x=1", "/x/../mcp", "/other"] {
        let (head, client, mut server) = http.ask(&format!("POST {path}"), CALL).await;
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        server.write_all(&json(wrong.as_bytes(), "")).await.unwrap();
        drop(server);
        let got = String::from_utf8(rest(client).await).unwrap();
        assert!(got.contains("isError"), "{path}: {got}");
    }
}

#[tokio::test]
async fn a_redirect_does_not_lead_around_the_guard() {
    let (http, _) = strict().await;
    let server = http.server.local_addr().unwrap();
    let kept = [
        (format!("HTTP://{server}/mcp/?a=b"), "/mcp/?a=b"),
        (format!("//{server}/mcp"), "/mcp"),
        ("elsewhere".to_owned(), "elsewhere"),
        ("/else?where=http://x/".to_owned(), "/else?where=http://x/"),
    ];
    let refused =
        ["https://127.0.0.1/mcp", "http://other.example/mcp", "//other.example", "/\\other"];
    let kept = kept.into_iter().map(|(location, expected)| (location, Some(expected)));
    for (location, expected) in kept.chain(refused.map(|it| (it.to_owned(), None))) {
        let (_, client, mut server) = http.ask("POST /mcp", CALL).await;
        let out = format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        server.write_all(out.as_bytes()).await.unwrap();
        drop(server);
        let got = String::from_utf8(rest(client).await).unwrap();
        match expected {
            Some(expected) => {
                assert!(got.contains(&format!("location: {expected}\r\n")), "{got}");
            }
            None => assert!(got.starts_with("HTTP/1.1 502") && !got.contains("location:"), "{got}"),
        }
    }
}

#[tokio::test]
async fn lines_of_a_changed_message_stay_lines_of_data() {
    let (http, _) = strict().await;
    let lines = "event: message\ndata: {\ndata: \"jsonrpc\": \"2.0\",\ndata: \"id\": 1,\n\
                 data: \"result\": {\"content\":[],\"structuredContent\":{\"n\":\"wrong\"}}\ndata: }\n\n";
    let (_, got) = http.exchange(CALL, &events(lines.as_bytes())).await;
    let got = String::from_utf8(got).unwrap();
    assert!(
        got.contains("data: \"id\": 1,\ndata: \"result\": {") && got.contains("isError"),
        "{got}"
    );
}

#[tokio::test]
async fn blank_lines_go_on_together() {
    let (http, _) = strict().await;
    let body = format!("{}data: {GOOD}\n\n", "\n".repeat(1 << 18));
    let (_, got) = http.exchange(CALL, &events(body.as_bytes())).await;
    assert!(String::from_utf8_lossy(&got).contains(GOOD));
    let ends = got.windows(2).filter(|window| window == b"\r\n").count();
    assert!(got.len() > 1 << 18 && ends < 1 << 10, "{ends}");
}
