//! The same bytes, sent to servers and clients of the official SDKs directly and through a guard: whatever a server reads as
//! a call with arguments that are not valid does not run behind the guard, and whatever a client reads as a result that is
//! not valid does not reach it through one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::answers::{lines, script, streams};
use crate::messages::{Cases, FIRST, cases};
use crate::reader::{Reader, Scripted};
use crate::recorder::{OVER_HTTP, Recorder, Way};

/// The cases whose call a server ran with arguments that are not valid.
fn ran(program: &str, way: Way, cases: &Cases) -> BTreeSet<String> {
    let mut recorder = Recorder::open(program, &[], way);
    recorder.call();
    recorder.attempt(&cases.0.iter().map(|case| &case.bytes[..]).collect::<Vec<_>>());
    let invalid = recorder.close().invalid();
    let name = |arguments: &Value| {
        let text = arguments.to_string();
        let digits: String =
            text.chars().map(|c| if c.is_ascii_digit() { c } else { ' ' }).collect();
        let numbers = digits.split_whitespace().filter_map(|digits| digits.parse::<i64>().ok());
        let place = numbers
            .map(|n| n - FIRST)
            .find(|n| (0..i64::try_from(cases.0.len()).unwrap()).contains(n));
        place.map_or(text, |place| cases.0[usize::try_from(place).unwrap()].name.clone())
    };
    invalid.iter().map(name).collect()
}

/// What runs directly is enough to tell something, and nothing of it runs through the guard.
fn agree(program: &str, direct: Way, guarded: &[Way], known: &[&str]) {
    let cases = cases();
    let runs = ran(program, direct, &cases);
    assert!(runs.len() > 50, "{program} {direct:?}: {runs:?}");
    for name in ["plain"].iter().chain(known) {
        assert!(runs.contains(*name), "`{name}` works without a guard; {program}: {runs:?}");
    }
    let runs = guarded
        .iter()
        .flat_map(|&way| ran(program, way, &cases).into_iter().map(move |name| (way, name)));
    assert_eq!(runs.collect::<Vec<_>>(), [], "{program}");
}

macro_rules! servers {
    ($($name:ident: $program:literal, $direct:expr, $guarded:expr, $known:expr;)*) => {$(
        #[test]
        fn $name() {
            agree($program, $direct, &$guarded, &$known);
        }
    )*};
}

/// What a reader of text streams takes for a line.
const SPLIT: [&str; 1] = ["CR around, in a notification"];

/// Ids that are half a character.
const HALF: [&str; 3] = [r#"id "\ud800""#, r#"id "\udc00a""#, r#"id "\ud800\ud800""#];

/// What a server takes that asks for no id, and for no case of a name.
const LENIENT: [&str; 15] = [
    "id null",
    "id true",
    "id false",
    "id []",
    "id [1]",
    "id {}",
    "no id",
    "batch, id null",
    "batch, id true",
    "batch, id [1]",
    "batch, no id",
    r#""method" -> "Method""#,
    r#""params" -> "PARAMS""#,
    "\"arguments\" -> \"argument\u{17f}\"",
    r#""method" -> "method":"ping","METHOD""#,
];

servers! {
    python_v1_on_stdio: "recorder_v1.py", Way::Stdio, [Way::GuardedStdio, Way::GuardedProcess], SPLIT;
    python_v2_on_stdio: "recorder_v2.py", Way::Stdio, [Way::GuardedStdio], SPLIT;
    typescript_v1_on_stdio: "recorder-v1.mjs", Way::Stdio, [Way::GuardedStdio, Way::GuardedProcess], HALF;
    typescript_v2_on_stdio: "recorder-v2.mjs", Way::Stdio, [Way::GuardedStdio], HALF;
    lenient_on_stdio: "lenient.py", Way::Stdio, [Way::GuardedStdio, Way::GuardedProcess], LENIENT;
    python_v1_on_http: "recorder_v1.py", Way::Http, [Way::GuardedHttp], [];
    python_v2_on_http: "recorder_v2.py", Way::Http, [Way::GuardedHttp], [];
    typescript_v1_on_http: "recorder-v1.mjs", Way::Http, OVER_HTTP, HALF;
    typescript_v2_on_http: "recorder-v2.mjs", Way::Http, [Way::GuardedHttp], HALF;
    lenient_on_http: "lenient.py", Way::Http, OVER_HTTP, [];
}

/// What a client reads directly is enough to tell something, and nothing of it is read through the guard.
fn agree_on_answers(reader: Reader, direct: Way, guarded: Way) {
    let script = script(if direct == Way::Http { streams() } else { lines() });
    let reads = |way| {
        let server = Scripted::start(way, &script);
        let evil = server.reads_evil(reader, &server.tools());
        evil.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let read = reads(direct);
    assert!(read.len() > 10, "{reader:?} {direct:?}: {read:?}");
    assert_eq!(reads(guarded), [""; 0], "{reader:?} {guarded:?}");
}

macro_rules! clients {
    ($($name:ident: $reader:expr, $direct:expr, $guarded:expr;)*) => {$(
        #[test]
        fn $name() {
            agree_on_answers($reader, $direct, $guarded);
        }
    )*};
}

clients! {
    python_v1_as_a_client_of_a_process: Reader::PythonV1, Way::Stdio, Way::GuardedStdio;
    python_v2_as_a_client_on_http: Reader::PythonV2("legacy"), Way::Http, Way::GuardedHttp;
    typescript_v1_as_a_client_of_a_process: Reader::Typescript("v1"), Way::Stdio, Way::GuardedProcess;
    typescript_v2_as_a_client_on_http: Reader::Typescript("legacy"), Way::Http, Way::GuardedHttp;
}
