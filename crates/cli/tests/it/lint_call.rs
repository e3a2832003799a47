//! `toolbond lint --call`: calls of a live server, whose results are checked.

use serde_json::{Value, json};
use std::fmt::Write as _;
use toolbond_harness::files::Folder;
use toolbond_harness::http::HttpServer;
use toolbond_harness::mcp::url;

use crate::command::{texts, toolbond, toolbond_with};
use crate::guard_repairs::headers_server;

/// A server in `sh` with the tool `count`, which answers calls with `answers` and writes what it gets to `log`.
fn server(tool: &Value, answers: &[Value], log: &str) -> String {
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "shop", "version": "1" } });
    let list = json!({ "tools": [tool] });
    let mut script = String::new();
    let results = [&hello, &list, &list].into_iter().chain(answers);
    for (at, result) in results.enumerate() {
        let answer = match result.get("error") {
            Some(error) => json!({ "jsonrpc": "2.0", "id": at + 1, "error": error }),
            None => json!({ "jsonrpc": "2.0", "id": at + 1, "result": result }),
        };
        let read = format!("read -r l; printf '%s\\n' \"$l\" >> {log}; ");
        let greeted = if at == 1 { &read[..] } else { "" };
        let _ = write!(script, "{greeted}{read}printf '%s\\n' '{answer}'; ");
    }
    script + "cat > /dev/null"
}

fn tool() -> Value {
    json!({
        "name": "count",
        "description": "Counts things.",
        "annotations": { "readOnlyHint": true },
        "inputSchema": { "type": "object", "properties": {} },
        "outputSchema": {
            "type": "object", "properties": { "n": { "type": "integer" } },
            "required": ["n"], "additionalProperties": false
        }
    })
}

fn result(content: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": "{}" }], "structuredContent": content })
}

/// What `lint` with `options` says of a server that answers so, and what the server got.
fn lint(
    tool: &Value,
    answers: &[Value],
    options: &[&str],
) -> (Option<i32>, String, String, String) {
    let folder = Folder::new();
    let log = folder.join("log");
    let script = server(tool, answers, &log);
    let arguments = [&["lint", "--target", "none"], options, &["--", "sh", "-c", &script]].concat();
    let (code, out, err) = texts(toolbond_with(&arguments, ""));
    (code, out, err, std::fs::read_to_string(log).unwrap_or_default())
}

#[test]
fn a_result_that_breaks_the_output_schema_is_a_finding() {
    let text_only = json!({ "content": [{ "type": "text", "text": "7" }] });
    let answers = [result(&json!({ "n": 7 })), result(&json!({ "n": "7", "m": 1 })), text_only];
    let calls = ["--call", "count={}", "--call", r#"count={"a":"b=c"}"#, "--call", "count={}"];
    let (code, out, err, got) = lint(&tool(), &answers, &calls);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(
        out.contains("[result-invalid]") && out.contains("count #/n: expected integer, found "),
        "{out}"
    );
    assert!(out.contains("`m`") && out.contains("[result-missing]"), "{out}");
    assert!(got.contains(r#""arguments":{"a":"b=c"}"#), "{got}");

    let (code, out, err, _) = lint(&tool(), &answers, &calls[..2]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");

    for (format, text) in [
        ("concise", "result-invalid"),
        ("json", "\"rule\":\"result-invalid\""),
        ("sarif", "\"ruleId\": \"result-invalid\""),
        ("github", "result-invalid"),
        ("gitlab", "result-invalid"),
        ("junit", "result-invalid"),
        ("markdown", "result-invalid"),
    ] {
        let options = [&["--format", format], &calls[..4]].concat();
        let (code, out, err, _) = lint(&tool(), &answers, &options);
        assert!(code == Some(1) && out.contains(text), "{format}: {out}{err}");
    }
    let ignored = [&["--ignore", "result-missing"], &calls[..]].concat();
    assert!(!lint(&tool(), &answers, &ignored).1.contains("[result-missing]"));
}

#[test]
fn only_tools_that_read_are_called_without_yes() {
    for annotations in
        [json!({}), json!({ "readOnlyHint": false }), json!({ "readOnlyHint": "true" })]
    {
        let mut tool = tool();
        tool["annotations"] = annotations;
        let answers = [result(&json!({ "n": "x" }))];
        let (code, out, err, got) = lint(&tool, &answers, &["--call", "count={}"]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        let expected = "`count`: the tool does not say `readOnlyHint: true`; `--yes` calls it";
        assert!(err.contains(expected) && !got.contains("tools/call"), "{err}{got}");
        let (code, out, _, got) = lint(&tool, &answers, &["--yes", "--call", "count={}"]);
        assert!(out.contains("[result-invalid]") && got.contains("tools/call"), "{out}");
        assert_eq!(code, Some(1));
    }
}

#[test]
fn a_call_without_a_result_says_why() {
    let failed = json!({ "content": [{ "type": "text", "text": "no key" }], "isError": true });
    let refused = json!({ "error": { "code": -32602, "message": "no" } });
    let task = json!({ "task": { "taskId": "1", "status": "working" } });
    for (answers, call, expected) in [
        (vec![], "other={}", "`other`: the server does not list this tool"),
        (vec![failed], "count={}", "`count`: the tool failed: no key"),
        (vec![refused], "count={}", "`count`: the server refused `tools/call`: {\"code\":-32602"),
        (vec![task], "count={}", "`count`: expected a final result, found `task`"),
        (vec![], "count", "expected TOOL=JSON, found no `=`"),
        (vec![], "count={a}", "the arguments of `count` are not JSON"),
        (vec![], "count=[]", "the arguments of `count`: expected a JSON object"),
    ] {
        let (code, out, err, _) = lint(&tool(), &answers, &["--call", call]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(expected), "{call}: {err}");
    }
    let (code, out, err, _) = lint(&tool(), &[], &["--timeout", "1", "--call", "count={}"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("`count`: no result within 1 s"), "{err}");
    let output = toolbond(&["lint", "--call", "count={}", "tools.json"]).output().unwrap();
    let (code, _, err) = texts(output);
    assert!(code == Some(2) && err.contains("--call is for live servers"), "{err}");
}

#[test]
fn a_server_that_ends_during_a_call_is_reported() {
    let folder = Folder::new();
    let script = server(&tool(), &[], &folder.join("log"));
    let script = script.replace("cat > /dev/null", "read -r l; echo out of paper >&2; exit 4");
    let arguments = ["lint", "--target", "none", "--call", "count={}", "--", "sh", "-c", &script];
    let (code, _, err) = texts(toolbond_with(&arguments, ""));
    assert_eq!(code, Some(2));
    let expected = "`count`: the server ended before it answered `tools/call`: exit status: 4; stderr: out of paper";
    assert!(err.contains(expected), "{err}");
}

#[test]
fn a_tool_without_output_schema_is_called_and_noted() {
    let mut tool = tool();
    tool.as_object_mut().unwrap().remove("outputSchema");
    let (code, _, err, got) = lint(&tool, &[result(&json!(1))], &["--call", "count={}"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("--call count: the tool has no output schema that can be checked"),
        "{err}"
    );
    assert!(got.contains("tools/call"));
}

#[test]
fn servers_on_http_are_called() {
    let server = HttpServer::start(|request, reply| {
        let result = match request.message()["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": {} }),
            Some("tools/list") => json!({ "tools": [tool()] }),
            Some("tools/call") => result(&json!({ "n": null })),
            _ => return reply.send("202 Accepted", "", ""),
        };
        reply.result(request, &result)
    });
    let url = url(server.port);
    let (code, out, err) = texts(toolbond_with(&["lint", "--call", "count={}", &url], ""));
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("count #/n: expected integer, found "), "{out}");
}

/// It refuses calls whose headers do not say what the arguments say.
#[test]
fn calls_of_2026_07_28_repeat_arguments_in_headers() {
    let (_server, port) = headers_server();
    let url = url(port);
    let calls =
        ["--call", r#"route={"region":"eu","limit":7}"#, "--call", r#"route={"region":"us"}"#];
    let arguments = [&["lint", "--target", "none", "--yes"], &calls[..], &[&url[..]]].concat();
    let (code, out, err) = texts(toolbond_with(&arguments, ""));
    assert_ne!(code, Some(2), "{out}{err}");
}
