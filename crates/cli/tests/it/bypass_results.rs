//! Servers that answer what a guard and a client may read in two ways: no result that is not valid reaches a client, and
//! ordinary ones do.

use serde_json::{Map, Value, json};

use crate::reader::{EVIL, Reader, Scripted, answer, encoded, head, result, script};
use crate::recorder::Way;

const EVENTS: &str = "text/event-stream";

/// What follows an answer that a guard leaves out, so that nobody waits for it.
const ERROR: &str = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"none"}}"#;

const PYTHON_V1: Reader = Reader::PythonV1;
const PYTHON_V2: Reader = Reader::PythonV2("legacy");
const PYTHON_V2_MODERN: Reader = Reader::PythonV2("2026-07-28");
const HTTPX: Reader = Reader::Httpx("exact");
const FOLDING: Reader = Reader::Httpx("folding");

/// What a server on HTTP tries with clients that would read it.
struct Attack {
    readers: &'static [Reader],
    answers: Vec<(String, Value)>,
}

fn attack<'a>(
    name: &str,
    readers: &'static [Reader],
    answers: impl IntoIterator<Item = (&'a str, Value)>,
) -> Attack {
    let answers = answers.into_iter().map(|(case, answer)| (format!("{name}: {case}"), answer));
    Attack { readers, answers: answers.collect() }
}

/// A stream of these events.
fn events(text: &str) -> Value {
    json!(format!("{}{text}data: {ERROR}\n\n", head(EVENTS)))
}

/// A body of JSON.
fn body(text: &str) -> Value {
    json!(format!("{}{text}", head("application/json")))
}

fn attacks() -> Vec<Attack> {
    let (evil, first) = (answer("$ID", EVIL), answer("$FIRST", EVIL));
    let data = format!("data: {evil}\n\n");
    let with_charset = |charset, text: &str, encoding| {
        encoded(&format!("{EVENTS}; charset={charset}"), text, encoding)
    };
    let redirect = |place: &str| {
        json!(format!(
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ))
    };
    vec![
        attack(
            "an answer to another request on the stream of a call",
            &[PYTHON_V2, PYTHON_V2_MODERN],
            [
                ("first", events(&format!("data: {first}\n\n"))),
                ("unknown", events(&format!("data: {}\n\n", answer("12345", EVIL)))),
                ("string", events(&format!("data: {}\n\n", answer("\"other\"", EVIL)))),
                ("with an id", events(&format!("id: 1\ndata: {first}\n\n"))),
            ],
        ),
        attack(
            "an answer on a resumed stream",
            &[PYTHON_V1, PYTHON_V2],
            [("resumes", json!(format!("{}id: 1\nretry: 1\ndata:\n\n", head(EVENTS))))],
        ),
        attack(
            "events in another charset",
            &[PYTHON_V1, PYTHON_V2],
            [
                (
                    "utf-7",
                    with_charset("utf-7", &data.replace("\"result\"", "\"+AHI-esult\""), "latin-1"),
                ),
                ("utf-16be", with_charset("utf-16be", &data, "utf-16be")),
                ("utf-16le", with_charset("utf-16le", &data, "utf-16le")),
                ("utf-32", with_charset("utf-32", &data, "utf-32")),
            ],
        ),
        attack(
            "a body in another charset",
            &[HTTPX],
            [
                ("utf-16le", encoded("application/json", &evil, "utf-16le")),
                ("utf-16be", encoded("application/json", &evil, "utf-16be")),
                ("utf-16", encoded("application/json; charset=utf-16", &evil, "utf-16")),
                ("utf-32le", encoded("application/json", &evil, "utf-32le")),
                ("utf-32", encoded("application/json; charset=utf-32", &evil, "utf-32")),
            ],
        ),
        attack(
            "an answer of another kind",
            &[HTTPX],
            [
                ("text/plain", encoded("text/plain", &evil, "latin-1")),
                ("text/json", encoded("text/json", &evil, "latin-1")),
                (
                    "none",
                    json!(format!(
                        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type:\r\n\r\n{evil}"
                    )),
                ),
            ],
        ),
        attack(
            "a redirect around the guard",
            &[HTTPX],
            [
                ("absolute", redirect("http://127.0.0.1:$PORT/mcp?direct")),
                ("upper case", redirect("HTTP://127.0.0.1:$PORT/mcp?direct")),
                ("network path", redirect("//127.0.0.1:$PORT/mcp?direct")),
            ],
        ),
        separators(&evil),
        attack(
            "a request that is an answer",
            &[HTTPX],
            both().iter().map(|(name, text)| (*name, body(text))),
        ),
        attack(
            "names of members in another case",
            &[FOLDING],
            cases().iter().map(|(name, text)| (*name, body(text))),
        ),
    ]
}

/// Separators of Unicode, which start no line of a stream.
fn separators(evil: &str) -> Attack {
    let honest = answer("$ID", r#"{"n":1}"#);
    let all = [
        ("vt", "\u{b}"),
        ("ff", "\u{c}"),
        ("fs", "\u{1c}"),
        ("nel", "\u{85}"),
        ("ls", "\u{2028}"),
        ("ps", "\u{2029}"),
    ];
    let places = [("comment", ": x", "\n"), ("field", "event: x", ""), ("id", "id: 1", "")];
    let answers = all.iter().flat_map(|(name, line)| {
        places.map(|(place, start, end)| {
            let text = format!("{start}{line}data: {evil}{line}{line}\n{end}data: {honest}\n\n");
            (format!("separators: {name} in a {place}"), encoded(EVENTS, &text, "utf-8"))
        })
    });
    Attack { readers: &[HTTPX], answers: answers.collect() }
}

/// Messages that are a request and an answer.
fn both() -> [(&'static str, String); 4] {
    let result = result(EVIL);
    let with = |more: &str| format!(r#"{{"jsonrpc":"2.0","id":$ID,{more},"result":{result}}}"#);
    [
        ("method", with(r#""method":"x""#)),
        ("notification", with(r#""method":"notifications/x","params":{}"#)),
        ("error", with(r#""error":{"code":1,"message":"a"}"#)),
        ("null", with(r#""method":null,"error":null"#)),
    ]
}

/// Answers whose members are written in another case.
fn cases() -> [(&'static str, String); 5] {
    let text = answer("$ID", EVIL);
    [
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
    ]
}

/// What each reader reads of the attacks that are for it: the tools, and those of which it reads what is not valid.
fn read_over_http(way: Way) -> Vec<(Reader, Vec<String>, Vec<String>)> {
    let attacks = attacks();
    let answers: Map<_, _> = attacks.iter().flat_map(|attack| attack.answers.clone()).collect();
    let direct = body(&answer("$ID", EVIL));
    let resumed = events(&format!("data: {}\n\n", answer("$FIRST", EVIL)));
    let resumed = json!(resumed.as_str().unwrap().replace("$ID", "$LAST"));
    let script = json!({ "answers": answers, "direct": direct, "resumed": resumed });
    let server = Scripted::start(way, &script);
    let readers = [PYTHON_V1, PYTHON_V2, PYTHON_V2_MODERN, HTTPX, FOLDING];
    let read = readers.map(|reader| {
        let attacks = attacks.iter().filter(|attack| attack.readers.contains(&reader));
        let tools = attacks.flat_map(|attack| &attack.answers).map(|(name, _)| &name[..]);
        let tools: Vec<_> = tools.collect();
        let evil = server.reads_evil(reader, &tools);
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        (reader, owned(tools), owned(evil))
    });
    read.into()
}

#[test]
fn every_attack_over_http_works_without_a_guard() {
    for (reader, tools, evil) in read_over_http(Way::Http) {
        assert_eq!(evil, tools, "{reader:?}");
    }
}

fn no_attack_works(way: Way) {
    for (reader, _, evil) in read_over_http(way) {
        assert_eq!(evil, Vec::<String>::new(), "{reader:?} {way:?}");
    }
}

#[test]
fn no_attack_over_http_works_with_a_guard() {
    no_attack_works(Way::GuardedHttp);
}

#[test]
#[cfg(target_os = "linux")]
fn no_attack_over_http_works_with_envoy() {
    no_attack_works(Way::Envoy);
}

#[test]
fn no_attack_of_a_process_works_with_a_guard() {
    let (evil, honest) = (answer("$ID", EVIL), answer("$ID", r#"{"n":1}"#));
    let split =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":\r{evil}\r}}\n");
    let line = |(name, text): (&'static str, String)| (name, json!(format!("{text}\n")));
    let for_text: Vec<_> = both()
        .map(line)
        .into_iter()
        .chain([("carriage return", json!(format!("{split}{honest}\n")))])
        .collect();
    let (direct, guarded) = (
        Scripted::start(Way::Stdio, &script(&for_text)),
        Scripted::start(Way::GuardedStdio, &script(&for_text)),
    );
    let tools = direct.tools();
    assert_eq!(direct.reads_evil(Reader::Text, &tools), tools);
    assert_eq!(guarded.reads_evil(Reader::Text, &tools), [""; 0]);
    for (reader, answers) in
        [(HTTPX, both().map(line).to_vec()), (FOLDING, cases().map(line).to_vec())]
    {
        let server = Scripted::start(Way::GuardedProcess, &script(&answers));
        assert_eq!(server.reads_evil(reader, &server.tools()), [""; 0], "{reader:?}");
    }
}

/// A tool with an output schema that does not ask for `n`.
fn loose(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } })
}

/// The answer to a call, as a process or a server on HTTP writes it.
fn written(way: Way, result: &Value) -> Value {
    let text = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#);
    if way == Way::GuardedHttp { body(&text) } else { json!(format!("{text}\n")) }
}

#[test]
fn a_server_of_natural_results_marks_none_of_them_as_projected() {
    let content = json!([{ "type": "text", "text": EVIL }]);
    let enveloped = json!({ "result": { "n": "evil" } });
    let complete = |marker: Value, more: Value| {
        let mut result = json!({ "resultType": "complete", "content": content, "_meta": marker });
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        result
    };
    let marker = |value: Value| json!({ "dev.toolbond/projection": value });
    let cases = [
        (
            "envelope",
            complete(
                marker(json!({ "form": "envelope" })),
                json!({ "structuredContent": enveloped }),
            ),
        ),
        (
            "fastmcp",
            complete(
                json!({ "fastmcp": { "wrap_result": true } }),
                json!({ "structuredContent": enveloped }),
            ),
        ),
        (
            "error",
            complete(marker(json!({ "form": "error", "block": 0 })), json!({ "isError": true })),
        ),
        (
            "added",
            complete(
                marker(json!({ "form": "error", "block": 0, "added": "block", "at": 0 })),
                json!({ "isError": true }),
            ),
        ),
        ("undeclared", complete(marker(json!({ "form": "error", "block": 0 })), json!({}))),
    ];
    let mut tools: Vec<_> = cases.iter().map(|(name, _)| loose(name)).collect();
    tools[4].as_object_mut().unwrap().remove("outputSchema");
    tools.push(loose("honest"));
    for (reader, way) in [
        (PYTHON_V2_MODERN, Way::GuardedStdio),
        (PYTHON_V2_MODERN, Way::GuardedHttp),
        (PYTHON_V2_MODERN, Way::GuardedProcess),
        (Reader::Typescript("modern"), Way::GuardedHttp),
    ] {
        let answers = cases.clone().map(|(name, result)| (name, written(way, &result)));
        let mut script = script(&answers);
        script["pages"] = json!([tools]);
        let server = Scripted::start(way, &script);
        assert_eq!(server.reads_evil(reader, &server.tools()), [""; 0], "{reader:?} {way:?}");
    }
}

#[test]
fn the_result_of_a_task_is_judged_by_whichever_id_the_client_reads() {
    let task = |id: &str| {
        json!({ "taskId": id, "status": "working", "ttl": null, "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z" })
    };
    let created = [
        (
            "a",
            json!({ "resultType": "task", "taskId": "other", "status": "working", "task": task("a") }),
        ),
        ("b", json!({ "resultType": "complete", "task": task("b") })),
        ("c", json!({ "task": task("c") })),
    ];
    let evil: Value = serde_json::from_str(&result(EVIL)).unwrap();
    let results = created.iter().flat_map(|(id, _)| {
        [json!(id), json!({ "method": "tasks/result", "params": { "taskId": id } })]
    });
    let calls: Value = results.chain([json!("honest")]).collect();
    for way in [Way::Stdio, Way::GuardedStdio, Way::GuardedHttp, Way::GuardedProcess] {
        let mut answers: Vec<_> =
            created.iter().map(|(id, created)| (*id, written(way, created))).collect();
        answers.push(("tasks/result", written(way, &evil)));
        let read = Scripted::start(way, &script(&answers)).read(Reader::Typescript("v1"), &calls);
        for (id, read) in ["a", "b", "c"].iter().zip(read.iter().skip(1).step_by(2)) {
            let is_evil = read["value"]["n"] == "evil";
            assert_eq!(is_evil, way == Way::Stdio, "{id} {way:?}: {read:?}");
        }
        assert_eq!(read[6]["value"], json!({ "n": 1 }), "{way:?}: {read:?}");
    }
}

#[test]
fn a_tool_on_two_pages_has_one_contract() {
    let strict = json!({ "name": "twice", "inputSchema": { "type": "object", "required": ["n"] } });
    let lax = json!({ "name": "twice", "inputSchema": { "type": "object" } });
    for way in [Way::Http, Way::GuardedStdio, Way::GuardedHttp, Way::GuardedProcess] {
        let script = json!({ "pages": [[strict, loose("honest")], [lax]] });
        let read = Scripted::start(way, &script)
            .read(Reader::Typescript("v1"), &json!(["twice", "honest"]));
        assert_eq!(read[1]["value"], json!({ "n": 1 }), "{way:?}: {read:?}");
        assert_eq!(read[0]["value"].is_object(), way == Way::Http, "{way:?}: {read:?}");
    }
}
