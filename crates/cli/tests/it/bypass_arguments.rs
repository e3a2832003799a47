//! Clients that send what a guard and a server may read in two ways: no call with arguments that are not valid runs, and
//! ordinary ones do.

use serde_json::{Value, json};
use toolbond_harness::http::{Connection, send};
use toolbond_harness::process::Log;

use crate::recorder::{OVER_HTTP, Recorder, Way, call};

const INVALID: i64 = 500;

/// Without a guard the tool runs with arguments that are not valid, with one it does not.
fn runs_only_without_a_guard(
    program: &str,
    options: &[&str],
    direct: Way,
    guarded: &[Way],
    attack: impl Fn(&mut Recorder),
) {
    let ran = |way: Way| {
        let mut recorder = Recorder::open(program, options, way);
        recorder.call();
        attack(&mut recorder);
        recorder.close().invalid()
    };
    assert_ne!(
        ran(direct),
        Vec::<Value>::new(),
        "{program} {options:?}: the attack works without a guard"
    );
    let guarded = guarded.iter().map(|&way| (way, ran(way))).filter(|(_, ran)| !ran.is_empty());
    assert_eq!(guarded.collect::<Vec<_>>(), [], "{program} {options:?}");
}

/// Posts a body with this content type.
fn post_as(recorder: &mut Recorder, kind: &str, body: &[u8]) {
    let (port, head) = recorder.http();
    send(port, &format!("{head}\r\ncontent-type: {kind}"), body);
}

/// The text in UTF-16, or with four bytes a character in UTF-32.
fn wide(text: &str, bytes: usize, is_big: bool) -> Vec<u8> {
    let wide = |byte: u8| {
        let mut character = vec![0; bytes];
        character[if is_big { bytes - 1 } else { 0 }] = byte;
        character
    };
    text.bytes().flat_map(wide).collect()
}

#[test]
fn express_gets_no_body_in_another_charset() {
    let attack = |recorder: &mut Recorder| {
        let call = call("7", INVALID);
        let utf7 = call.replace("tools/call", "+AHQ-ools/call");
        post_as(recorder, "application/json; charset=utf-7", utf7.as_bytes());
        let quoted = call.replace("tools/call", "+AHQ-ools/call");
        post_as(recorder, "application/json; CHARSET=\"UTF-7\"", quoted.as_bytes());
        for (kind, bytes, is_big) in [
            ("utf-16le", 2, false),
            ("utf-16be", 2, true),
            ("utf-32le", 4, false),
            ("utf-32be", 4, true),
        ] {
            let body = wide(&call, bytes, is_big);
            post_as(recorder, &format!("application/json; charset={kind}"), &body);
        }
    };
    let options = ["--express"];
    runs_only_without_a_guard("recorder-v1.mjs", &options, Way::Http, &OVER_HTTP, attack);
}

#[test]
fn python_v1_gets_no_body_in_another_charset() {
    let attack = |recorder: &mut Recorder| {
        let call = call("7", INVALID);
        for (bytes, is_big) in [(2, false), (2, true), (4, false), (4, true)] {
            post_as(recorder, "application/json", &wide(&call, bytes, is_big));
        }
    };
    let guarded = OVER_HTTP;
    runs_only_without_a_guard("recorder_v1.py", &[], Way::Http, &guarded, attack);
}

/// Sends a batch to a server that asks its client for its roots before it lists its tools, and answers that.
fn answers_between(recorder: &mut Recorder) {
    recorder.send(format!("[{}]", call("7", INVALID)).as_bytes());
    let asked = recorder.answer("\"roots/list\"");
    let asked: Value = serde_json::from_str(&asked).unwrap();
    let roots = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    recorder.send(roots.to_string().as_bytes());
    // The call is answered, by the tool or by the guard.
    recorder.answer("\"id\":7");
}

#[test]
fn a_batch_waits_for_a_server_that_asks_its_client_before_it_lists_its_tools() {
    // Without a guard nobody lists the tools.
    let mut recorder = Recorder::open("recorder-v1.mjs", &["--asks"], Way::Stdio);
    recorder.send(format!("[{}]", call("7", INVALID)).as_bytes());
    assert_eq!(recorder.close().invalid(), [json!({ "n": INVALID })]);

    let mut recorder = Recorder::open("recorder-v1.mjs", &["--asks"], Way::GuardedStdio);
    answers_between(&mut recorder);
    assert_eq!(recorder.close().invalid(), Vec::<Value>::new());
}

#[test]
fn a_batch_over_http_waits_for_a_process_that_asks_its_client_before_it_lists_its_tools() {
    let mut recorder = Recorder::open("recorder-v1.mjs", &["--asks"], Way::GuardedProcess);
    let (port, head) = recorder.http();
    let stream = Connection::open(port, &head.replacen("POST", "GET", 1), b"");
    let batch = format!("[{}]", call("7", INVALID));
    let head = format!("{head}\r\nconnection: close");
    let answer = Connection::open(port, &head, batch.as_bytes());
    // The question may come on either.
    let seen = Log::default();
    for connection in [stream, answer] {
        seen.follow(connection.reader);
    }
    let asked = seen.wait_for("\"roots/list\"");
    let asked: Value = serde_json::from_str(&asked[asked.find('{').unwrap()..]).unwrap();
    let roots = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    recorder.send(roots.to_string().as_bytes());
    seen.wait_for("\"id\":7");
    assert_eq!(recorder.close().invalid(), Vec::<Value>::new());
}
