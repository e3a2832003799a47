//! The modes of results before a server whose tools break their output schemas, and servers that break theirs without end.

use std::thread;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::Talk;
use toolbond_harness::http::{HttpServer, ask, body};
use toolbond_harness::mcp::{INITIALIZED, call, initialize, modern, post, request, url};
use toolbond_harness::peers;
use toolbond_harness::proc;
use toolbond_harness::process::{self, Process};

use crate::breaks_table::answers;

/// A conversation with the server, or with a guard before it.
fn talk(era: &str, guard: Option<&[&str]>) -> Talk {
    let file = peers::path("servers/breaks.json");
    let mut server = peers::words("servers/breaks.mjs");
    server.extend([file.to_str().unwrap().to_owned(), era.to_owned()]);
    let server: Vec<_> = server.iter().map(String::as_str).collect();
    let mut talk = match guard {
        Some(options) => Talk::start(options, &server),
        None => Talk::with(process::command(&server)),
    };
    if era == "legacy" {
        talk.greet(&json!({}));
    }
    talk
}

/// The bytes of the list, and of what comes of a call of each tool.
fn lines(talk: &mut Talk, era: &str) -> Vec<String> {
    let calls = answers().into_iter().map(|answer| call(2, &answer.tool, &json!({})));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let messages = [list.to_string()].into_iter().chain(calls);
    let mut line = |message: String| {
        talk.send(&if era == "legacy" { message } else { modern("/", &message).1 });
        talk.line()
    };
    messages.map(&mut line).collect()
}

#[test]
fn warn_passes_results_and_lists_byte_for_byte() {
    // Clients of 2025-11-25 get the content of an error in another form, whatever its schema.
    for (era, form) in [("legacy", &["--no-project"][..]), ("modern", &[])] {
        let mut direct = talk(era, None);
        let mut guarded = talk(era, Some(&[&["--results", "warn"], form].concat()));
        // Nothing is learned either.
        for _ in 0..2 {
            for (direct, guarded) in lines(&mut direct, era).iter().zip(lines(&mut guarded, era)) {
                assert_eq!(*direct, guarded, "{era}");
            }
        }
    }
}

#[test]
fn enforce_withholds_what_breaks_its_schema() {
    // A format is an annotation, and errors are not held to the schema.
    let kept = ["date_without_zone", "error", "valid"];
    for era in ["legacy", "modern"] {
        let mut talk = talk(era, Some(&["--results", "enforce"]));
        for _ in 0..2 {
            let lines = lines(&mut talk, era);
            for (line, answer) in lines[1..].iter().zip(answers()) {
                let is_kept = kept.contains(&answer.tool.as_str());
                assert_eq!(answer.is_in(line), is_kept, "{era}, {}: {line}", answer.tool);
            }
        }
    }
}

/// A server of 2025-11-25 with these tools, which answers the call of a tool with what `content` makes of the arguments.
fn server(
    tools: &[Value],
    content: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
) -> HttpServer {
    let list = json!({ "tools": tools });
    HttpServer::start(move |request, reply| {
        let message = request.message();
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => reply.result(
                request,
                &json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "attack", "version": "1" } }),
            ),
            "tools/list" => reply.result(request, &list),
            "tools/call" => {
                let content = content(params["name"].as_str().unwrap(), &params["arguments"]);
                reply.result(request, &json!({ "content": [], "structuredContent": content }))
            }
            _ => reply.send("202 Accepted", "", ""),
        }
    })
}

fn tool(name: &str, output: &Value) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": output })
}

/// A guard with a client.
struct Guarded {
    guard: Process,
    port: u16,
    head: String,
}

impl Guarded {
    /// A guard before the server on `port`, which remembers in `folder`, and a client that says that it is `name`.
    fn start(port: u16, folder: &Folder, name: &str) -> Self {
        let mut command = process::toolbond(&["guard", "--listen", "127.0.0.1:0"]);
        command.args(["--upstream", &url(port)]).env("XDG_CACHE_HOME", folder.path());
        let (guard, port) = Process::listening(command);
        let head = post("/mcp", "");
        let hello =
            initialize("2025-11-25", &json!({})).replace("\"test\"", &format!("\"{name}\""));
        let greeted = ask(port, &head, &hello);
        let session =
            greeted.split("mcp-session-id: ").nth(1).and_then(|it| it.split("\r\n").next());
        let session = session.map(|id| format!("\r\nmcp-session-id: {id}")).unwrap_or_default();
        let head = post("/mcp", &format!("{session}\r\nmcp-protocol-version: 2025-11-25"));
        let _ = ask(port, &head, INITIALIZED);
        Self { guard, port, head }
    }

    fn list(&self) -> Vec<Value> {
        let listed = body(&ask(self.port, &self.head, &request(1, "tools/list")));
        listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
    }

    fn call(&self, name: &str, arguments: &Value) -> Value {
        body(&ask(self.port, &self.head, &call(2, name, arguments)))["result"].clone()
    }

    /// The most memory that the guard has used, in MiB.
    fn peak(&self) -> u64 {
        proc::status(self.guard.id(), "VmHWM").unwrap() >> 10
    }

    /// Ends the guard; its log.
    fn end(mut self) -> Vec<String> {
        self.guard.signal("-TERM");
        self.guard.wait();
        self.guard.log().all().lines().map(str::to_owned).collect()
    }
}

/// The lines about a tool.
fn about<'a>(log: &'a [String], tool: &str) -> Vec<&'a String> {
    let words = |line: &str| line.split(|it: char| !it.is_alphanumeric()).any(|word| word == tool);
    log.iter().filter(|line| words(line)).collect()
}

#[test]
fn a_schema_that_breaks_in_a_new_way_each_time_goes() {
    const CALLS: usize = 500;
    let properties: Vec<_> =
        (0..CALLS).map(|n| (format!("p{n}"), json!({ "type": "integer" }))).collect();
    let output = json!({ "type": "object", "additionalProperties": false,
        "properties": Value::from_iter(properties) });
    let broken = |n: usize| match n % 3 {
        0 => json!({ format!("p{n}"): "text" }),
        1 => json!({ format!("q{n}"): n }),
        _ => json!({ format!("p{n}"): { "deep": [n] } }),
    };
    let server = server(&[tool("shifty", &output)], move |_, arguments| {
        broken(usize::try_from(arguments["n"].as_u64().unwrap()).unwrap())
    });
    let guarded = Guarded::start(server.port, &Folder::new(), "test");
    let before = guarded.peak();
    let mut is_gone = Vec::new();
    for n in 0..CALLS {
        let list = guarded.list();
        is_gone.push(list[0].get("outputSchema").is_none());
        let result = guarded.call("shifty", &json!({ "n": n }));
        assert_eq!(result["structuredContent"], broken(n), "{n}: {result}");
    }
    let first = is_gone.iter().position(|it| *it).unwrap();
    assert!(first <= 4, "{first}");
    assert!(is_gone[first..].iter().all(|it| *it));
    assert!(guarded.peak() < before + 64, "{before} {}", guarded.peak());
    let log = guarded.end();
    assert!(about(&log, "shifty").len() <= 8, "{log:#?}");
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn three_thousand_tools_that_break_take_a_line_each() {
    const TOOLS: usize = 3000;
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let name = |n: usize| format!("t{n}");
    let tools: Vec<_> = (0..TOOLS).map(|n| tool(&name(n), &output)).collect();
    let server = server(&tools, |name, _| json!({ "n": { "in": name } }));
    let guarded = Guarded::start(server.port, &Folder::new(), "test");
    assert_eq!(guarded.list().len(), TOOLS);
    let before = guarded.peak();
    for round in 0..2 {
        for n in (0..TOOLS).rev() {
            let result = guarded.call(&name(n), &json!({}));
            let expected = json!({ "n": { "in": name(n) } });
            assert_eq!(result["structuredContent"], expected, "{round} {n}: {result}");
        }
        assert_eq!(guarded.list().len(), TOOLS);
    }
    assert!(guarded.peak() < before + 256, "{before} {}", guarded.peak());
    let log = guarded.end();
    assert!(log.len() <= TOOLS + 50, "{} lines: {:#?}", log.len(), &log[..20]);
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn huge_values_that_break_are_bounded() {
    const BYTES: usize = 8 << 20;
    let output = json!({ "type": "object", "required": ["n"],
        "properties": { "n": { "type": "integer" }, "all": { "items": { "type": "integer" } } } });
    let huge = |name: &str| match name {
        "text" => json!({ "n": "x".repeat(BYTES) }),
        "many" => json!({ "n": 1, "all": vec!["x"; BYTES / 4] }),
        "json" => json!(json!({ "m": "x".repeat(BYTES) }).to_string()),
        _ => {
            json!({ "n": (0..BYTES / 16).map(|n| (format!("{n:08}"), Value::from(1))).collect::<Value>() })
        }
    };
    let names = ["text", "many", "json", "wide"];
    let tools = names.map(|name| tool(name, &output));
    let server = server(&tools, move |name, _| huge(name));
    for client in ["test", "claude-ai"] {
        let guarded = Guarded::start(server.port, &Folder::new(), client);
        for round in 0..2 {
            guarded.list();
            for name in names {
                let result = guarded.call(name, &json!({})).to_string();
                assert!(result.len() > BYTES / 4 || round == 0, "{name}: {result:.300}");
                assert!(result.len() < 4 * BYTES, "{name}: {}", result.len());
            }
        }
        assert!(guarded.peak() < 512, "{}", guarded.peak());
        let log = guarded.end();
        assert!(log.len() < 40, "{} lines", log.len());
        assert!(log.iter().all(|line| line.len() < 2000), "{:.3000}", log.join("\n"));
    }
}

#[test]
fn two_guards_that_learn_at_the_same_time_remember_both() {
    const TOOLS: usize = 200;
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tools: Vec<_> = (0..TOOLS).map(|n| tool(&format!("t{n}"), &output)).collect();
    let server = server(&tools, |name, _| json!({ "n": { "in": name } }));
    let folder = Folder::new();
    let guards = [0, 1].map(|_| Guarded::start(server.port, &folder, "test"));
    thread::scope(|scope| {
        for (half, guarded) in guards.into_iter().enumerate() {
            scope.spawn(move || {
                guarded.list();
                for n in (half..TOOLS).step_by(2) {
                    guarded.call(&format!("t{n}"), &json!({}));
                }
                guarded.end();
            });
        }
    });
    let third = Guarded::start(server.port, &folder, "test");
    let list = third.list();
    assert_eq!(list.len(), TOOLS);
    let strict: Vec<_> = list.iter().filter(|tool| tool["outputSchema"] == output).collect();
    assert!(strict.is_empty(), "{} tools have the schema of their author", strict.len());
}
