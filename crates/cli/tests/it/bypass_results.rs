//! Servers that answer what a guard and a client may read in two ways: no result that is not valid reaches a client, and
//! ordinary ones do.

use serde_json::{Value, json};

use crate::reader::{EVIL, Reader, answer, encoded, head, script};
use crate::recorder::Way;

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
        reader.reads_evil_only_without_a_guard(Way::Http, &[Way::GuardedHttp], &script);
    }
}

#[test]
fn an_answer_on_a_resumed_stream_is_held_to_its_call() {
    let mut script = script(&[("resumes", events("id: 1\nretry: 1\ndata:\n\n"))]);
    script["resumed"] = event(&answer("$FIRST", EVIL));
    for reader in [Reader::PythonV1, Reader::PythonV2("legacy")] {
        reader.reads_evil_only_without_a_guard(Way::Http, &[Way::GuardedHttp], &script);
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
        reader.reads_evil_only_without_a_guard(Way::Http, &[Way::GuardedHttp], &script);
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
        ("utf-7", encoded("application/json; charset=utf-7", &text.replace("result", "+AHI-esult"), "latin-1")),
    ]);
    for reader in [Reader::PythonV1, Reader::PythonV2("legacy"), Reader::Typescript("v1")] {
        let direct = reader.reads_evil(Way::Http, &script);
        println!("{reader:?} reads {direct:?}");
        assert_eq!(reader.reads_evil(Way::GuardedHttp, &script), Vec::<String>::new(), "{reader:?}");
    }
}

#[test]
fn a_redirect_leads_no_client_around_the_guard() {
    let redirect = |place: &str| {
        json!(format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"))
    };
    let mut script = script(&[
        ("absolute", redirect("http://127.0.0.1:$PORT/mcp?direct")),
        ("network", redirect("//127.0.0.1:$PORT/mcp?direct")),
    ]);
    script["direct"] = json!(format!("{}{}", head("application/json"), answer("$ID", EVIL)));
    Reader::PythonV1.reads_evil_only_without_a_guard(Way::Http, &[Way::GuardedHttp], &script);
}
