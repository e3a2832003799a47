//! What the guard remembers between runs, and `toolbond guard --forget`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, Talk};
use toolbond_harness::http::{HttpServer, ask, body};
use toolbond_harness::mcp::{self, request};
use toolbond_harness::process::Process;
use toolbond_harness::process::toolbond as plain;
use toolbond_harness::wait::wait_until;

use crate::command::texts;

/// A tool whose server answers with text where it promised a number.
fn tool() -> Value {
    json!({
        "name": "count",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }
    })
}

/// A server in `sh` that answers `initialize`, then lists and calls in any order.
fn server(tool: &Value) -> String {
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "shop", "version": "1" } });
    let list = json!({ "tools": [tool] });
    let content = [json!({ "type": "text", "text": "many" })];
    let wrong = json!({ "content": content, "structuredContent": { "n": "many" } });
    let answer = |result: &Value| {
        format!("printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}}\\n' \"$id\" '{result}'")
    };
    format!(
        "while read -r l; do id=$(printf '%s' \"$l\" | sed -n 's/.*\"id\":\\([^,}}]*\\).*/\\1/p'); case \"$l\" in \
         *'\"initialize\"'*) {};; *'\"tools/list\"'*) {};; *'\"tools/call\"'*) {};; esac; done",
        answer(&hello),
        answer(&list),
        answer(&wrong)
    )
}

/// The type of `n` in the first list that a client gets, after which it makes a call.
fn run(options: &[&str], tool: &Value) -> (Value, String) {
    let script = server(tool);
    let mut talk = Talk::start(options, &["sh", "-c", &script]);
    talk.greet(&json!({}));
    let list = talk.request("tools/list", &json!({}));
    let found = list["result"]["tools"][0]["outputSchema"]["properties"]["n"]["type"].clone();
    talk.call("count", &json!({}));
    (found, talk.end())
}

#[test]
fn the_first_list_after_a_restart_is_relaxed() {
    let folder = Folder::new();
    let file = folder.join("results-1.json");
    let options = ["--results-file", &file];
    assert_eq!(run(&options, &tool()).0, "integer");
    assert_eq!(run(&options, &tool()).0, json!(["integer", "string"]));
    // A new version of the tool starts afresh.
    let mut new = tool();
    new["description"] = "Counts more.".into();
    assert_eq!(run(&options, &new).0, "integer");

    let forget = || texts(plain(&["guard", "--forget", "--results-file", &file]).output().unwrap());
    assert_eq!(forget(), (Some(0), format!("deleted {file}: 2 tools\n"), String::new()));
    let nothing = format!("nothing is remembered: {file} does not exist\n");
    assert_eq!(forget(), (Some(0), nothing, String::new()));
    assert_eq!(run(&options, &tool()).0, "integer");
}

#[test]
fn it_is_in_the_cache_folder_unless_it_is_nowhere() {
    let folder = Folder::new();
    let script = server(&tool());
    let file = folder.path().join("toolbond/results-1.json");
    for (options, is_there) in [(&["--results-file", "none"][..], false), (&[], true)] {
        let mut command = plain(&["guard"]);
        command.env("XDG_CACHE_HOME", folder.path()).args(options);
        command.args(["--", "sh", "-c", &script]);
        let mut talk = Talk::with(command);
        talk.greet(&json!({}));
        talk.request("tools/list", &json!({}));
        talk.call("count", &json!({}));
        talk.end();
        assert_eq!(file.exists(), is_there && cfg!(target_os = "linux"), "{options:?}");
    }
    let mut forget = plain(&["guard", "--forget"]);
    forget.env("XDG_CACHE_HOME", folder.path()).current_dir(folder.path());
    let (code, out, _) = texts(forget.output().unwrap());
    assert_eq!((code, out), (Some(0), format!("deleted {}: 1 tool\n", file.display())));
}

#[test]
fn a_file_that_cannot_be_used_costs_one_line() {
    let folder = Folder::new();
    let file = folder.write("results-1.json", "my notes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let (found, log) = run(&["--results-file", &file], &tool());
    assert_eq!(found, "integer");
    assert_eq!(log.matches("results file").count(), 1, "{log}");
    assert!(log.contains("it holds something else"), "{log}");
    // It is not deleted, either.
    let mut forget = plain(&["guard", "--forget", "--results-file", &file]);
    let (code, out, error) = texts(forget.output().unwrap());
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(error.contains("it holds something else") && error.lines().count() == 1, "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "my notes");
}

#[test]
fn servers_of_a_file_share_it_and_it_is_written_while_they_run() {
    let upstream = HttpServer::start(|request, reply| {
        let result = match request.message()["method"].as_str() {
            Some("initialize") => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "a", "version": "1" } })
            }
            Some("tools/list") => json!({ "tools": [tool()] }),
            Some("tools/call") => json!({ "content": [], "structuredContent": { "n": "many" } }),
            _ => return reply.send("202 Accepted", "", ""),
        };
        reply.result(request, &result)
    });
    let origin = upstream.port;
    let text = format!(
        "results-file = 'deep/results.json'\n[servers.a]\nurl = 'http://127.0.0.1:{origin}/mcp?key=secret'\n"
    );
    let guard = Configured::start(&text);
    let path = guard.port("/a/mcp");
    let post = mcp::post("/a/mcp", "");
    let listed = |port: u16| {
        let list = body(&ask(port, &post, &request(1, "tools/list")));
        list["result"]["tools"][0]["outputSchema"]["properties"]["n"]["type"].clone()
    };
    assert_eq!(listed(path), "integer");
    ask(path, &post, &mcp::call(2, "count", &json!({})));
    let file = guard.path("deep/results.json");
    wait_until("the file is written", || Path::new(&file).exists());
    assert!(!fs::read_to_string(&file).unwrap().contains("secret"));
    // Another guard, in front of the same server with another key.
    let mut command = plain(&["guard", "--listen", "127.0.0.1:0", "--results-file", &file]);
    command.args(["--upstream", &format!("http://127.0.0.1:{origin}/mcp?key=other")]);
    let (_guard, other) = Process::listening(command);
    let list = body(&ask(other, &mcp::post("/mcp", ""), &request(1, "tools/list")));
    let found = &list["result"]["tools"][0]["outputSchema"]["properties"]["n"]["type"];
    assert_eq!(*found, json!(["integer", "string"]));
    let mut forget = plain(&["guard", "--forget", "--config", &guard.path("toolbond.toml")]);
    let (code, out, err) = texts(forget.output().unwrap());
    assert_eq!((code, out), (Some(0), format!("deleted {file}: 1 tool\n")), "{err}");
}
