//! Answers on HTTP that are written so that a guard might pass over them.

use crate::contract::strict as settings;
use crate::http::{Http, events, json, response};
use crate::pair::{Said, listener, result};

const TOOLS: &str = r#"[{"name":"count","description":"Counts.","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]"#;

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"1"}],"structuredContent":{"n":1}}}"#;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}"#;

/// What breaks the contract, and must not arrive.
const WRONG: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":"wrong"}}}"#;

const POST: &str = "POST /mcp HTTP/1.1\r\nmcp-session-id: s\r\nmcp-protocol-version: 2025-11-25\r\naccept-encoding: gzip, br";

/// A strict guard that knows the tools, and what it says.
fn strict() -> (Http, Said) {
    let mut settings = settings();
    // The server answers nothing that it was not told to.
    settings.translate.eras = false;
    let (listener, said) = listener();
    let mut http = Http::new(settings, listener, "");
    POST.clone_into(&mut http.client.head);
    list(&mut http);
    (http, said)
}

/// The client lists the tools.
fn list(http: &mut Http) {
    let list = result(0, &format!(r#"{{"tools":{TOOLS}}}"#));
    let ask = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;
    let (_, _, got) = http.exchange(ask, &json(list.as_bytes(), ""));
    assert!(got.contains("count"));
}

/// A strict guard whose client gets one of the texts `instead` of each of these responses.
fn withholds(instead: &[&str], cases: impl IntoIterator<Item = (String, Vec<u8>)>) {
    let (mut http, _) = strict();
    for (name, out) in cases {
        let (asked, head, got) = http.exchange(CALL, &out);
        assert_eq!(asked.header("accept-encoding"), Some("identity"));
        let is_answered = instead.iter().any(|text| got.contains(text));
        assert!(is_answered && !got.contains(r#"{"n":"wrong"}"#), "{name}: {head} {got}");
    }
}

#[test]
fn a_wrong_result_arrives_in_no_disguise() {
    let event = |text: &str| events(text.replace("WRONG", WRONG).as_bytes());
    let typed = |types: &str| response(&format!("{types}\r\n"), WRONG.as_bytes());
    let marked = [b"\xef\xbb\xbf", WRONG.as_bytes()].concat();
    let latin = [&b"{\"x\":\"\xff\","[..], &WRONG.as_bytes()[1..]].concat();
    let twice = WRONG.replace("\"result\"", "\"result\":{},\"result\"");
    let second = format!("event: x\ndata: {GOOD}\n\ndata: WRONG\n\n");
    let lines = format!("data: {}\r\r", WRONG.replace(',', ",\rdata:"));
    let stream_2 = format!("data: {WRONG}\n\n");
    let stream_2 = response("content-type: Text/Event-Stream-2\r\n", stream_2.as_bytes());
    let cases = [
        ("plain", json(WRONG.as_bytes(), "")),
        ("as an event", event("data: WRONG\n\n")),
        ("after another event", event(&second)),
        ("in lines, and nothing follows", event(&lines)),
        ("encoded", json(WRONG.as_bytes(), "content-encoding: gzip\r\n")),
        ("with a mark", json(&marked, "")),
        ("as an event, with a mark", event("\u{feff}data: WRONG\n\n")),
        ("with two results", json(twice.as_bytes(), "")),
        ("not in UTF-8", json(&latin, "")),
        ("in a batch that breaks off", json(format!("[{WRONG},").as_bytes(), "")),
        ("after two marks", event("\u{feff}\u{feff}data: WRONG\n\n")),
        ("after a mark in Latin-1", event("\u{ef}\u{bb}\u{bf}data: WRONG\n\n")),
        ("after a mark, and nothing follows", event("\u{feff}data: [WRONG]\r\r")),
        ("as another kind of JSON", typed("Content-Type: Application/JSON-rpc")),
        ("as a kind of JSON", typed("content-type: application/mcp+json; a=b")),
        ("as two kinds", typed("content-type: text/plain\r\ncontent-type: application/json")),
        ("as JSON and as events", typed("content-type: application/json; text/event-stream")),
        ("as a kind of events", stream_2),
    ];
    // A second answer is left out.
    let instead = ["isError", "error", GOOD];
    withholds(&instead, cases.map(|(name, out)| (name.to_owned(), out)));
    // An answer under another id is held to the request of its stream.
    let ids = ["2", "\"1\"", "\"x\"", "0"].into_iter();
    let under_other_ids = ids.flat_map(|id| {
        let wrong = WRONG.replace("\"id\":1", &format!("\"id\":{id}"));
        let event = events(format!("data: {wrong}\n\n").as_bytes());
        [(id.to_owned(), json(wrong.as_bytes(), "")), (format!("{id}, as an event"), event)]
    });
    withholds(&["isError"], under_other_ids);
}

#[test]
fn what_is_ascii_alone_is_read_in_every_charset_that_contains_it() {
    let (mut http, _) = strict();
    let answer = |kind: &str, charset: &str, body: &[u8]| {
        response(&format!("content-type: {kind}; charset={charset}\r\n"), body)
    };
    let (json, events) = ("application/json", "text/event-stream");
    for charset in ["ISO-8859-1", "us-ascii", "\"windows-1252\""] {
        let (_, head, got) = http.exchange(CALL, &answer(json, charset, GOOD.as_bytes()));
        assert_eq!(got, GOOD, "{charset}");
        assert!(head.contains("charset=") && head.contains("utf-8"), "{head}");
        let event = format!("data: {GOOD}\n\n");
        let (_, _, got) = http.exchange(CALL, &answer(events, charset, event.as_bytes()));
        assert!(got.contains(GOOD), "{charset}: {got}");
        // Readers disagree about other characters, and the same bytes may be UTF-8.
        let beyond = GOOD.replace("\"text\":\"1\"", "\"text\":\"\u{e9}\"");
        assert_ne!(beyond, GOOD);
        let (_, _, got) = http.exchange(CALL, &answer(json, charset, beyond.as_bytes()));
        assert!(got.contains("beyond ASCII") && !got.contains("result"), "{charset}: {got}");
    }
    http.client.head = POST.replace(
        "\r\nmcp-session",
        "\r\ncontent-type: application/json; charset=ISO-8859-1\r\nmcp-session",
    );
    let (asked, _, got) = http.exchange(CALL, &answer(json, "utf-8", GOOD.as_bytes()));
    assert_eq!(asked.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(got, GOOD);
}

#[test]
fn a_byte_order_mark_before_answers_is_in_no_batch_that_is_merged_from_them() {
    let (mut http, _) = strict();
    let call = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"count"}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let answer_to_ping = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#;
    for body in [format!("\u{feff}[{answer_to_ping}]"), format!("\u{feff}{answer_to_ping}")] {
        http.answer(&json(body.as_bytes(), ""));
        http.client.send(&format!("[{call},{ping}]"));
        http.asked();
        let (_, got) = http.client.receive();
        let answers: Vec<serde_json::Value> = serde_json::from_str(&got).unwrap();
        assert_eq!(answers.len(), 2, "{got}");
        assert!(answers.iter().any(|answer| answer["id"] == "p"), "{got}");
        assert!(answers.iter().any(|answer| answer["error"].is_object()), "{got}");
    }
}

#[test]
fn an_answer_may_have_many_headers() {
    let (mut http, _) = strict();
    let headers = "x-many: 1\r\n".repeat(900);
    let (_, head, got) = http.exchange(CALL, &json(GOOD.as_bytes(), &headers));
    assert_eq!((&*got, head.matches("x-many: 1").count()), (GOOD, 900), "{head:.200}");
}

#[test]
fn what_is_no_message_passes() {
    let (mut http, said) = strict();
    let body = format!("id: 1\ndata: \n\ndata: ping\n\ndata: {GOOD}\n\n");
    let (_, _, got) = http.exchange(CALL, &events(body.as_bytes()));
    assert!(got.contains("data: ping") && got.contains(GOOD), "{got}");
    assert_eq!(said.lock().unwrap().len(), 0);
}

#[test]
fn an_answer_on_another_stream_is_checked_or_left_out() {
    let (mut http, said) = strict();
    let twice = WRONG.replace("\"result\"", "\"result\":{},\"result\"");
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#;
    for (method, question) in [("GET", ""), ("POST", ping)] {
        let own = http.wait(CALL, &events(b": wait\n\n"));
        http.client.head = POST.replace("POST", method);
        let body = format!("data: {WRONG}\n\ndata: {answer}\n\ndata: {twice}\n\ndata: {GOOD}\n\n");
        let (_, _, got) = http.exchange(question, &events(body.as_bytes()));
        assert!(!got.contains(r#"{"n":"wrong"}"#) && !got.contains(GOOD), "{got}");
        // On a stream for whatever comes it is the answer; on that of another request it is not.
        assert_eq!(got.contains("isError"), method == "GET", "{got}");
        assert_eq!(got.contains(answer), method == "POST", "{got}");
        drop(own);
        POST.clone_into(&mut http.client.head);
    }
    let said = said.lock().unwrap();
    let dropped = said.iter().filter(|text| text.contains("request \"p\", which is not pending"));
    assert_eq!(dropped.count(), 1, "{said:?}");
}

#[test]
fn an_answer_under_another_id_leaves_with_the_id_of_the_request_of_its_stream() {
    let (mut http, _) = strict();
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    // `Number` of JavaScript or `int` of Python reads most of them as 1.
    for id in [r#""\ufeff1""#, r#""\u0661""#, r#""0_1""#, "999"] {
        let own = http.wait(CALL, &events(b": wait\n\n"));
        let wrong = WRONG.replace("\"id\":1", &format!("\"id\":{id}"));
        let resumable = events(format!("id: 1\ndata: {wrong}\n\n").as_bytes());
        let (_, _, got) = http.exchange(ping, &resumable);
        let is_sent = got.contains(r#""id":7,"result""#) && !got.contains(id);
        assert!(is_sent || (id.contains("feff") && !got.contains("result")), "{id}: {got}");
        http.client.head = format!("{}\r\nlast-event-id: 1", POST.replace("POST", "GET"));
        let (_, _, got) = http.exchange("", &events(format!("data: {wrong}\n\n").as_bytes()));
        assert!(!got.contains(id), "{id}, resumed: {got}");
        drop(own);
        POST.clone_into(&mut http.client.head);
    }
}

#[test]
fn an_answer_that_only_some_can_read_reaches_no_other_stream_however_its_names_are_written() {
    let (mut http, _) = strict();
    let escaped = WRONG.replace("jsonrpc", "json\\u0072pc").replace("result", "res\\u0075lt");
    let with = |member: &str| escaped.replacen('{', &format!("{{{member},"), 1);
    let many = format!(r#""params":{{{}"":0}}"#, r#""":0,"#.repeat(10_000));
    let broken = [
        with(r#""res\u0075lt":{}"#),
        with(r#""method":"a""#),
        with(r#""x":NaN"#),
        with(&many),
        format!("[{escaped},1]"),
    ];
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    for (method, question) in [("GET", ""), ("POST", ping)] {
        for broken in &broken {
            let own = http.wait(CALL, &events(b": wait\n\n"));
            http.client.head = POST.replace("POST", method);
            let body = format!(": hello\n\ndata: {broken}\n\n");
            let (_, _, got) = http.exchange(question, &events(body.as_bytes()));
            assert!(got.contains("hello"), "{method} {broken:.200}: {got}");
            assert!(!got.contains(r#"{"n":"wrong"}"#), "{method} {broken:.200}: {got:.500}");
            drop(own);
            POST.clone_into(&mut http.client.head);
        }
    }
}

#[test]
fn a_stream_is_resumed_with_answers_that_came_before() {
    let (mut http, said) = strict();
    let event = format!("id: 7\ndata: {GOOD}\n\n");
    http.exchange(CALL, &events(event.as_bytes()));
    http.client.head = format!("{}\r\nlast-event-id: 7", POST.replace("POST", "GET"));
    let failed = r#"{"jsonrpc":"2.0","id":"unknown","error":{"code":1,"message":""}}"#;
    let wrong = WRONG.replace("\"id\":1", "\"id\":0");
    let body = format!("{event}data: {failed}\n\ndata: {wrong}\n\n");
    let (_, _, got) = http.exchange("", &events(body.as_bytes()));
    let failed = failed.replace("\"unknown\"", "1");
    assert!(got.contains(&event) && got.contains(&failed), "{got}");
    assert!(!got.contains(r#"{"n":"wrong"}"#), "{got}");
    assert_eq!(said.lock().unwrap().iter().filter(|said| said.contains("error")).count(), 1);
}

#[test]
fn calls_are_checked_at_whatever_path() {
    let (mut http, _) = strict();
    for path in ["/mcp/", "/MCP", "//mcp", "/%6dcp//?x=1", "/x/../mcp", "/other"] {
        http.client.head = POST.replacen("/mcp", path, 1);
        // Another path may have other tools.
        list(&mut http);
        let (asked, _, got) = http.exchange(CALL, &json(WRONG.as_bytes(), ""));
        assert_eq!(asked.line(), format!("POST {path} HTTP/1.1"));
        assert!(got.contains("isError"), "{path}: {got}");
    }
}

#[test]
fn a_redirect_does_not_lead_around_the_guard() {
    let (mut http, _) = strict();
    let server = format!("127.0.0.1:{}", http.server);
    for (location, expected) in [
        (&*format!("HTTP://{server}/mcp/?a=b"), Some("/mcp/?a=b")),
        (&format!("//{server}/mcp"), Some("/mcp")),
        ("elsewhere", Some("elsewhere")),
        ("/else?where=http://x/", Some("/else?where=http://x/")),
        ("https://127.0.0.1/mcp", None),
        ("http://other.example/mcp", None),
        ("//other.example", None),
        ("/\\other", None),
    ] {
        let redirect = format!("HTTP/1.1 307 X\r\nlocation: {location}");
        let out = format!("{redirect}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let (_, head, _) = http.exchange(CALL, out.as_bytes());
        let found = head.lines().find_map(|line| line.strip_prefix("location: "));
        assert_eq!(found, expected, "{location}");
        assert!(found.is_some() || head.starts_with("HTTP/1.1 502"), "{location}: {head}");
    }
}

#[test]
fn a_message_in_several_lines_of_data_becomes_one_line() {
    let (mut http, _) = strict();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (question, text) in [
        (CALL, GOOD.replace(',', ",\n")),
        (CALL, WRONG.replace(',', ",\n")),
        (
            CALL,
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{{\"a\":\n{WRONG}\n}}}}"),
        ),
        (ping, format!("hello\n{WRONG}")),
    ] {
        let lines = text.replace('\n', "\ndata: ");
        let body = format!("event: message\ndata: {lines}\n\ndata: {GOOD}\n\n");
        let (_, _, got) = http.exchange(question, &events(body.as_bytes()));
        let mut data = got.lines().filter_map(|line| line.strip_prefix("data: "));
        let is_whole = data.all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert!(is_whole && !got.contains(&format!("data: {WRONG}")), "{text}: {got}");
    }
}

#[test]
fn a_line_of_an_event_ends_where_all_clients_end_it() {
    let (mut http, _) = strict();
    for hidden in ["data: \r", "data:\r\r", "id: 1\ndata:\r\r\r", "retry: 1\r", ":\r"] {
        let body = format!("{hidden}{WRONG}\n\ndata: {GOOD}\n\n");
        let (_, _, got) = http.exchange(CALL, &events(body.as_bytes()));
        // A reader that ends lines at `\n` alone.
        let is_read = |line: &str| line.starts_with("data:") && line.contains("wrong");
        assert!(got.contains(GOOD) && !got.split('\n').any(is_read), "{hidden:?}: {got:?}");
        assert!(!got.replace("\r\n", "").contains('\r'), "{hidden:?}: {got:?}");
    }
}

#[test]
fn blank_lines_go_on_together() {
    let (mut http, _) = strict();
    let body = format!("{}data: {GOOD}\n\n", "\n".repeat(1 << 18));
    let (_, _, got) = http.exchange(CALL, &events(body.as_bytes()));
    assert!(got.contains(GOOD));
    let ends = got.matches("\r\n").count();
    assert!(got.len() > 1 << 18 && ends < 1 << 10, "{ends}");
}
