//! Clients that send what a guard and a server may read in two ways: no call with arguments that are not valid runs, and
//! ordinary ones do.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::{Value, json};

use crate::recorder::{GUARDED, HANG, OVER_HTTP, Recorder, Way, call, post};

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

/// A call between two carriage returns, inside a notification.
fn between_carriage_returns(recorder: &mut Recorder) {
    let call = call("7", INVALID);
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":\r{call}\r}}");
    recorder.send(line.as_bytes());
}

#[test]
fn a_carriage_return_starts_no_line_at_python_v1() {
    let guarded = [Way::GuardedStdio, Way::GuardedProcess];
    runs_only_without_a_guard(
        "recorder_v1.py",
        &[],
        Way::Stdio,
        &guarded,
        between_carriage_returns,
    );
}

#[test]
fn a_carriage_return_starts_no_line_at_python_v2() {
    let guarded = [Way::GuardedStdio, Way::GuardedProcess];
    runs_only_without_a_guard(
        "recorder_v2.py",
        &[],
        Way::Stdio,
        &guarded,
        between_carriage_returns,
    );
}

/// Posts a body with this content type.
fn post_as(recorder: &mut Recorder, kind: &str, body: &[u8]) {
    let (port, head) = recorder.http();
    post(port, &format!("{head}\r\ncontent-type: {kind}"), body);
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

/// Sends a request, and gives what is read of the answer, piece by piece.
fn stream(port: u16, head: &str, body: &str, pieces: &Sender<String>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    let rest = format!(
        "\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(&[head.as_bytes(), rest.as_bytes()].concat()).unwrap();
    let pieces = pieces.clone();
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(count) = stream.read(&mut piece)
            && count > 0
            && pieces.send(String::from_utf8_lossy(&piece[..count]).into_owned()).is_ok()
        {}
    });
}

#[test]
fn a_batch_over_http_waits_for_a_process_that_asks_its_client_before_it_lists_its_tools() {
    let mut recorder = Recorder::open("recorder-v1.mjs", &["--asks"], Way::GuardedProcess);
    let (sender, pieces) = channel();
    let (port, head) = recorder.http();
    let head = head.to_owned();
    stream(port, &head.replacen("POST", "GET", 1), "", &sender);
    stream(port, &head, &format!("[{}]", call("7", INVALID)), &sender);
    let mut seen = String::new();
    let mut wait_for = |text: &str| {
        while !seen.contains(text) {
            seen.push_str(&pieces.recv_timeout(HANG).unwrap_or_else(|_| panic!("{text}: {seen}")));
        }
        seen.clone()
    };
    let asked = wait_for("\"roots/list\"");
    let asked = asked.lines().find(|line| line.contains("\"roots/list\"")).unwrap();
    let asked: Value = serde_json::from_str(&asked[asked.find('{').unwrap()..]).unwrap();
    let roots = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    recorder.send(roots.to_string().as_bytes());
    wait_for("\"id\":7");
    assert_eq!(recorder.close().invalid(), Vec::<Value>::new());
}

#[test]
fn a_call_whose_id_is_none_is_judged_or_refused() {
    let attack = |recorder: &mut Recorder| {
        for id in ["null", "true", "false", "[1]", "{}", "[]"] {
            recorder.send(call(id, INVALID).as_bytes());
        }
        recorder.send(call("7", INVALID).replace("\"id\":7,", "").as_bytes());
    };
    runs_only_without_a_guard("lenient.py", &[], Way::Stdio, &GUARDED, attack);
}

#[test]
fn a_call_in_a_batch_whose_id_is_none_is_judged_or_refused() {
    let attack = |recorder: &mut Recorder| {
        for id in ["null", "true", "[1]"] {
            recorder.send(format!("[{}]", call(id, INVALID)).as_bytes());
        }
        let missing = call("7", INVALID).replace("\"id\":7,", "");
        recorder.send(format!("[{missing}]").as_bytes());
    };
    runs_only_without_a_guard("lenient.py", &[], Way::Stdio, &GUARDED, attack);
}

#[test]
fn members_are_judged_whatever_the_case_of_their_names() {
    let attack = |recorder: &mut Recorder| {
        let plain = call("7", INVALID);
        for (name, other) in [
            ("\"method\"", "\"Method\""),
            ("\"params\"", "\"PARAMS\""),
            ("\"name\"", "\"Name\""),
            ("\"arguments\"", "\"Arguments\""),
            ("\"id\"", "\"ID\""),
            // U+017F folds to `s`, U+212A to `k`, for decoders that compare without case.
            ("\"arguments\"", "\"argument\u{17f}\""),
            ("\"method\":\"tools/call\"", "\"method\":\"ping\",\"METHOD\":\"tools/call\""),
            ("\"arguments\":", "\"arguments\":{\"n\":1},\"Arguments\":"),
            ("\"params\":", "\"params\":{\"name\":\"ranged\",\"arguments\":{\"n\":1}},\"Params\":"),
        ] {
            recorder.send(plain.replacen(name, other, 1).as_bytes());
        }
    };
    runs_only_without_a_guard("lenient.py", &[], Way::Stdio, &GUARDED, attack);
}

#[test]
fn a_call_whose_id_is_half_a_character_is_judged_or_refused() {
    let attack = |recorder: &mut Recorder| {
        for id in [r#""\ud800""#, r#""\udc00a""#, r#""\ud800\ud800""#] {
            recorder.send(call(id, INVALID).as_bytes());
        }
    };
    let stdio = [Way::GuardedStdio, Way::GuardedProcess];
    for program in ["recorder-v1.mjs", "recorder-v2.mjs"] {
        runs_only_without_a_guard(program, &[], Way::Stdio, &stdio, attack);
    }
    runs_only_without_a_guard("recorder-v1.mjs", &[], Way::Http, &OVER_HTTP, attack);
}
