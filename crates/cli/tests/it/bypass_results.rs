//! Servers that answer what a guard and a client may read in two ways: no result that is not valid reaches a client, and
//! ordinary ones do.

use serde_json::{Value, json};

use crate::reader::{EVIL, Reader, answer, encoded, head, script};
use crate::recorder::{OVER_HTTP, Record, Way};

const EVENTS: &str = "text/event-stream";

/// A stream of these events.
fn events(text: &str) -> Value {
    json!(format!("{}{text}", head(EVENTS)))
}

fn event(message: &str) -> Value {
    events(&format!("data: {message}\n\n"))
}

const PYTHON_V2: [Reader; 2] = [Reader::PythonV2("legacy"), Reader::PythonV2("2026-07-28")];

#[test]
fn an_answer_on_the_stream_of_a_call_is_held_to_that_call() {
    let first = answer("$FIRST", EVIL);
    let script = script(&[
        ("first", event(&first)),
        ("unknown", event(&answer("12345", EVIL))),
        ("string", event(&answer("\"other\"", EVIL))),
        ("batch-like", events(&format!("id: 1\ndata: {first}\n\n"))),
    ]);
    for reader in PYTHON_V2 {
        reader.reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
    }
}

#[test]
fn an_answer_on_a_resumed_stream_is_held_to_its_call() {
    let mut script = script(&[("resumes", events("id: 1\nretry: 1\ndata:\n\n"))]);
    script["resumed"] = event(&answer("$FIRST", EVIL));
    for reader in [Reader::PythonV1, Reader::PythonV2("legacy")] {
        reader.reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
    }
}

#[test]
fn python_reads_no_events_in_another_charset() {
    let data = format!("data: {}\n\n", answer("$ID", EVIL));
    let utf7 = data.replace("\"result\"", "\"+AHI-esult\"");
    let script = script(&[
        ("utf-7", encoded("text/event-stream; charset=utf-7", &utf7, "latin-1")),
        ("utf-16be", encoded("text/event-stream; charset=utf-16be", &data, "utf-16be")),
        ("utf-16le", encoded("text/event-stream; charset=utf-16le", &data, "utf-16le")),
        ("utf-32", encoded("text/event-stream; charset=utf-32", &data, "utf-32")),
    ]);
    for reader in [Reader::PythonV1, Reader::PythonV2("legacy")] {
        reader.reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
    }
}

#[test]
fn a_body_in_another_charset_reaches_no_client() {
    let text = answer("$ID", EVIL);
    let script = script(&[
        ("utf-16le", encoded("application/json", &text, "utf-16le")),
        ("utf-16be", encoded("application/json", &text, "utf-16be")),
        ("utf-16", encoded("application/json; charset=utf-16", &text, "utf-16")),
        ("utf-32le", encoded("application/json", &text, "utf-32le")),
        ("utf-32", encoded("application/json; charset=utf-32", &text, "utf-32")),
    ]);
    Reader::Httpx("exact").reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
}

#[test]
fn an_answer_of_another_kind_is_read_by_no_client() {
    let text = answer("$ID", EVIL);
    let script = script(&[
        ("text/plain", encoded("text/plain", &text, "latin-1")),
        ("text/json", encoded("text/json", &text, "latin-1")),
        (
            "none",
            json!(format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type:\r\n\r\n{text}")),
        ),
    ]);
    Reader::Httpx("exact").reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
}

#[test]
fn no_separator_of_unicode_starts_a_line_of_a_stream() {
    let evil = answer("$ID", EVIL);
    let honest = answer("$ID", r#"{"n":1}"#);
    let breaks = [
        ("vt", "\u{b}"),
        ("ff", "\u{c}"),
        ("fs", "\u{1c}"),
        ("nel", "\u{85}"),
        ("ls", "\u{2028}"),
        ("ps", "\u{2029}"),
    ];
    let streams = breaks.iter().flat_map(|(name, line)| {
        let stream = |text: String| encoded(EVENTS, &text, "utf-8");
        [
            (
                format!("{name} in a comment"),
                stream(format!(": x{line}data: {evil}{line}{line}\n\ndata: {honest}\n\n")),
            ),
            (
                format!("{name} in a field"),
                stream(format!("event: x{line}data: {evil}{line}{line}\ndata: {honest}\n\n")),
            ),
            (
                format!("{name} in an id"),
                stream(format!("id: 1{line}data: {evil}{line}{line}\ndata: {honest}\n\n")),
            ),
        ]
    });
    let script = json!({ "answers": streams.collect::<serde_json::Map<_, _>>() });
    Reader::Httpx("exact").reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
}

#[test]
fn a_redirect_leads_no_client_around_the_guard() {
    let redirect = |place: &str| {
        json!(format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ))
    };
    let mut script = script(&[
        ("absolute", redirect("http://127.0.0.1:$PORT/mcp?direct")),
        ("upper case", redirect("HTTP://127.0.0.1:$PORT/mcp?direct")),
        ("network path", redirect("//127.0.0.1:$PORT/mcp?direct")),
    ]);
    script["direct"] = json!(format!("{}{}", head("application/json"), answer("$ID", EVIL)));
    Reader::Httpx("exact").reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script);
}

#[test]
fn a_carriage_return_starts_no_line_at_a_client() {
    let (evil, honest) = (answer("$ID", EVIL), answer("$ID", r#"{"n":1}"#));
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":\r{evil}\r}}\n");
    let script = script(&[("notification", json!(format!("{line}{honest}\n")))]);
    Reader::Text.reads_evil_only_without_a_guard(Way::Stdio, &[Way::GuardedStdio], &script);
}

/// A tool with an output schema that does not ask for `n`.
fn loose(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } })
}

/// The answer to a call, on standard output and in a response.
fn answers(result: &Value) -> [Value; 2] {
    let text = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#);
    [json!(format!("{text}\n")), json!(format!("{}{text}", head("application/json")))]
}

#[test]
fn a_server_of_natural_results_marks_none_of_them_as_projected() {
    let marker = |value: Value| json!({ "dev.toolbond/projection": value });
    let evil = r#"{"n":"evil"}"#;
    let text = json!([{ "type": "text", "text": evil }]);
    let cases = [
        (
            "envelope",
            json!({ "resultType": "complete", "content": text, "structuredContent": { "result": { "n": "evil" } },
            "_meta": marker(json!({ "form": "envelope" })) }),
        ),
        (
            "fastmcp",
            json!({ "resultType": "complete", "content": text, "structuredContent": { "result": { "n": "evil" } },
            "_meta": { "fastmcp": { "wrap_result": true } } }),
        ),
        (
            "error",
            json!({ "resultType": "complete", "content": text, "isError": true,
            "_meta": marker(json!({ "form": "error", "block": 0 })) }),
        ),
        (
            "added",
            json!({ "resultType": "complete", "content": text, "isError": true,
            "_meta": marker(json!({ "form": "error", "block": 0, "added": "block", "at": 0 })) }),
        ),
        (
            "undeclared",
            json!({ "resultType": "complete", "content": text,
            "_meta": marker(json!({ "form": "error", "block": 0 })) }),
        ),
    ];
    let mut tools: Vec<_> = cases.iter().map(|(name, _)| loose(name)).collect();
    tools[4].as_object_mut().unwrap().remove("outputSchema");
    tools.push(loose("honest"));
    for (reader, way) in [
        (Reader::PythonV2("2026-07-28"), Way::GuardedStdio),
        (Reader::PythonV2("2026-07-28"), Way::GuardedHttp),
        (Reader::PythonV2("2026-07-28"), Way::GuardedProcess),
        (Reader::Typescript("modern"), Way::GuardedHttp),
    ] {
        let over_http = usize::from(way == Way::GuardedHttp);
        let mut script = script(
            &cases.clone().map(|(name, result)| (name, answers(&result)[over_http].clone())),
        );
        script["pages"] = json!([tools]);
        assert_eq!(reader.reads_evil(way, &script), Vec::<String>::new(), "{reader:?} {way:?}");
    }
}

#[test]
fn the_result_of_a_task_is_judged_by_whichever_id_the_client_reads() {
    let task = json!({ "taskId": "a", "status": "working", "ttl": null, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z" });
    let cases = [
        (
            "two ids",
            json!({ "resultType": "task", "taskId": "b", "status": "working", "task": task }),
        ),
        ("another type", json!({ "resultType": "complete", "task": task })),
        ("one id", json!({ "task": task })),
    ];
    let evil: Value = serde_json::from_str(&crate::reader::result(EVIL)).unwrap();
    for (name, created) in cases {
        for way in [Way::Stdio, Way::GuardedStdio, Way::GuardedHttp, Way::GuardedProcess] {
            let over_http = usize::from(way == Way::GuardedHttp);
            let script = script(&[
                ("starts", answers(&created)[over_http].clone()),
                ("tasks/result", answers(&evil)[over_http].clone()),
            ]);
            let result = json!({ "method": "tasks/result", "params": { "taskId": "a" } });
            let read =
                Reader::Typescript("v1").read(way, &script, &json!(["starts", result, "honest"]));
            let is_evil = read[1]["value"]["n"] == "evil";
            assert_eq!(is_evil, way == Way::Stdio, "{name} {way:?}: {read:?}");
            assert_eq!(read[2]["value"], json!({ "n": 1 }), "{name} {way:?}: {read:?}");
        }
    }
}

#[test]
fn a_message_that_is_a_request_and_an_answer_reaches_no_client_as_an_answer() {
    let result = crate::reader::result(EVIL);
    let texts = [
        ("method", format!(r#"{{"jsonrpc":"2.0","id":$ID,"method":"x","result":{result}}}"#)),
        (
            "notification",
            format!(
                r#"{{"jsonrpc":"2.0","id":$ID,"method":"notifications/x","params":{{}},"result":{result}}}"#
            ),
        ),
        (
            "error",
            format!(
                r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":1,"message":"a"}},"result":{result}}}"#
            ),
        ),
        (
            "null",
            format!(r#"{{"jsonrpc":"2.0","id":$ID,"method":null,"error":null,"result":{result}}}"#),
        ),
    ];
    let over_stdio = script(&texts.clone().map(|(name, text)| (name, json!(format!("{text}\n")))));
    let over_http =
        texts.map(|(name, text)| (name, json!(format!("{}{text}", head("application/json")))));
    let (text, httpx) = (Reader::Text, Reader::Httpx("exact"));
    text.reads_evil_only_without_a_guard(Way::Stdio, &[Way::GuardedStdio], &over_stdio);
    httpx.reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script(&over_http));
    assert_eq!(httpx.reads_evil(Way::GuardedProcess, &over_stdio), Vec::<String>::new());
}

#[test]
fn members_of_an_answer_are_judged_whatever_the_case_of_their_names() {
    let text = answer("$ID", EVIL);
    let cases = [
        ("result", text.replace("\"result\"", "\"Result\"")),
        ("id", text.replace("\"id\"", "\"ID\"")),
        ("structured", text.replace("\"structuredContent\"", "\"StructuredContent\"")),
        (
            "twice",
            text.replace(
                "\"structuredContent\"",
                "\"structuredContent\":{\"n\":1},\"STRUCTUREDCONTENT\"",
            ),
        ),
        (
            "both",
            text.replace(
                "\"result\"",
                "\"result\":{\"content\":[],\"structuredContent\":{\"n\":1}},\"RESULT\"",
            ),
        ),
    ];
    let over_http = cases
        .clone()
        .map(|(name, text)| (name, json!(format!("{}{text}", head("application/json")))));
    let over_stdio = cases.map(|(name, text)| (name, json!(format!("{text}\n"))));
    let reader = Reader::Httpx("folding");
    reader.reads_evil_only_without_a_guard(Way::Http, &OVER_HTTP, &script(&over_http));
    assert_eq!(reader.reads_evil(Way::GuardedProcess, &script(&over_stdio)), Vec::<String>::new());
}

#[test]
fn a_tool_on_two_pages_has_one_contract() {
    let strict = json!({ "name": "twice", "inputSchema": { "type": "object", "required": ["n"] } });
    let lax = json!({ "name": "twice", "inputSchema": { "type": "object" } });
    for way in [Way::Http, Way::GuardedStdio, Way::GuardedHttp, Way::GuardedProcess] {
        let record = Record::new();
        let script =
            json!({ "record": record.path(), "pages": [[strict, loose("honest")], [lax]] });
        let read = Reader::Typescript("v1").read(way, &script, &json!(["twice", "honest"]));
        assert_eq!(read[1]["value"], json!({ "n": 1 }), "{way:?}: {read:?}");
        let expected = if way == Way::Http { 2 } else { 1 };
        assert_eq!(record.arguments().len(), expected, "{way:?}: {read:?}");
    }
}
