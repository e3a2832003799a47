//! `toolbond guard --allow-fetch`: tools whose schemas refer to other documents.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};
use toolbond_harness::http::HttpServer;

use crate::command::toolbond;
use crate::guard_config::{File, Guard};
use crate::guard_peers::visit;
use crate::guard_views::visit_modern;

/// Documents on a free port. Those at `/held/…` are sent when they are released.
struct Documents {
    server: HttpServer,
    held: Arc<(Mutex<bool>, Condvar)>,
}

impl Documents {
    fn start(documents: &[(&str, Value)]) -> Self {
        let documents: HashMap<_, _> =
            documents.iter().map(|(path, it)| ((*path).to_owned(), it.to_string())).collect();
        let held = Arc::<(Mutex<bool>, Condvar)>::default();
        let release = Arc::clone(&held);
        let server = HttpServer::start(move |request, reply| {
            if request.path().starts_with("/held/") {
                let (released, change) = &*release;
                drop(change.wait_while(released.lock().unwrap(), |it| !*it).unwrap());
            }
            match documents.get(request.path()) {
                Some(document) => reply.send("200 OK", "", document),
                None => reply.send("404 Not Found", "", ""),
            }
        });
        Self { server, held }
    }

    fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    fn release(&self) {
        *self.held.0.lock().unwrap() = true;
        self.held.1.notify_all();
    }

    /// How many requests there were since the last time.
    fn requests(&self) -> usize {
        self.server.take().len()
    }
}

/// A server with a tool `book`, whose schema refers to the document at `uri`, and a tool `plain`.
struct Server(File);

impl Server {
    fn new(test: &str, uri: &str) -> Self {
        let place = json!({ "type": "object", "properties": { "where": { "$ref": uri } },
            "required": ["where"] });
        let initialized = json!({ "jsonrpc": "2.0", "id": "$ID", "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "scripted", "version": "1" } } });
        let initialized = initialized.to_string().replace("\"$ID\"", "$ID") + "\n";
        let script = json!({
            "pages": [[
                { "name": "book", "inputSchema": place },
                { "name": "plain", "inputSchema": { "type": "object" } },
            ]],
            "answers": { "initialize": initialized },
        });
        let name = format!("fetch-{test}-{}.json", std::process::id());
        Self(File::new(&name, &script.to_string()))
    }

    fn command(&self) -> [&str; 3] {
        let scripted = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/servers/scripted.py");
        ["python3", scripted, self.0.path()]
    }
}

fn place() -> Value {
    json!({ "$ref": "parts.json#/$defs/city", "description": "a place" })
}

fn parts() -> Value {
    json!({ "$defs": { "city": { "type": "string", "minLength": 2 } } })
}

fn calls() -> Value {
    json!([["book", { "where": "Bern" }], ["book", { "where": "B" }], ["plain", {}]])
}

/// Checks what a client reports of the calls.
fn check(report: &Value) {
    let text =
        |call: usize| report["calls"][call]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(text(0), "1", "{report}");
    assert!(text(1).starts_with("invalid arguments for tool `book`"), "{report}");
    assert_eq!(text(2), "1", "{report}");
}

#[test]
fn a_tool_that_refers_to_documents_works() {
    let documents = Documents::start(&[("/a/place.json", place()), ("/a/parts.json", parts())]);
    let server = Server::new("works", &documents.url("/a/place.json"));
    let allow = documents.url("/a/");
    check(&visit(Some(&["--allow-fetch", &allow]), &calls(), &server.command()));
    assert_eq!(documents.requests(), 2);
    let guard = [env!("CARGO_BIN_EXE_toolbond"), "guard", "--allow-fetch", &allow, "--"];
    let command: Vec<_> = guard.into_iter().chain(server.command()).collect();
    check(&visit_modern(false, &calls(), &command));
    check(&visit_modern(true, &calls(), &command));
    assert_eq!(documents.requests(), 4);
    let mut talk = Talk::start(&["--allow-fetch", &allow], &server);
    let listed = talk.ask("tools/list", &json!({}));
    let schema = &listed["result"]["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["where"], json!({ "$ref": "#/$defs/place" }), "{listed}");
    assert!(!schema.to_string().contains("$id"), "{listed}");
    let log = talk.end();
    assert!(!log.contains("external-ref"), "{log}");
    let mut talk = Talk::start(&["--allow-fetch", &allow, "--for", "gemini"], &server);
    let listed = talk.ask("tools/list", &json!({}));
    let city = &listed["result"]["tools"][0]["inputSchema"]["properties"]["where"];
    assert_eq!(*city, json!({ "type": "string", "description": "a place (minLength: 2)" }));
    let refused = talk.call("book", &json!({ "where": "B" }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    talk.end();
}

#[test]
fn without_the_option_nothing_is_fetched() {
    let documents = Documents::start(&[("/place.json", place())]);
    let server = Server::new("off", &documents.url("/place.json"));
    let mut talk = Talk::start(&[], &server);
    assert_eq!(talk.names(), ["plain"]);
    let refused = talk.call("book", &json!({ "where": "Bern" }));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("external-ref"), "{refused}");
    let log = talk.end();
    let hint = format!("`--allow-fetch {}`, or `allow` in", documents.url("/"));
    assert!(
        log.contains("error[external-ref] book #/inputSchema/properties/where/$ref: refers to "),
        "{log}"
    );
    assert!(log.contains(&hint), "{log}");
    assert_eq!(documents.requests(), 0);
}

#[test]
fn what_is_not_allowed_is_not_fetched() {
    let documents = Documents::start(&[("/place.json", place())]);
    let server = Server::new("elsewhere", &documents.url("/place.json"));
    let mut talk = Talk::start(&["--allow-fetch", &documents.url("/other/")], &server);
    assert_eq!(talk.names(), ["plain"]);
    let log = talk.end();
    assert!(log.contains("fetching is on"), "{log}");
    let uri = documents.url("/place.json");
    let reason = format!("refers to {uri}, which is not allowed (`--allow-fetch ");
    assert!(log.contains(&reason), "{log}");
    assert_eq!(documents.requests(), 0);
}

#[test]
fn a_document_that_hangs_delays_no_other_tool() {
    let documents = Documents::start(&[("/held/place.json", json!({ "type": "string" }))]);
    let server = Server::new("hangs", &documents.url("/held/place.json"));
    let mut talk = Talk::start(&["--allow-fetch", &documents.url("/")], &server);
    assert_eq!(talk.names(), ["plain"]);
    assert_eq!(talk.call("plain", &json!({}))["result"]["structuredContent"]["n"], 1);
    let refused = talk.call("book", &json!({ "where": "Bern" }));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("still being fetched"), "{refused}");
    documents.release();
    let told = talk.read();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(talk.names(), ["book", "plain"]);
    assert_eq!(
        talk.call("book", &json!({ "where": "Bern" }))["result"]["structuredContent"]["n"],
        1
    );
    let refused = talk.call("book", &json!({ "where": 1 }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert_eq!(documents.requests(), 1);
    let log = talk.end();
    assert!(
        log.contains(&format!(
            "fetch {} 127.0.0.1 200 17 B sha256:",
            documents.url("/held/place.json")
        )),
        "{log}"
    );
}

#[test]
fn several_servers_fetch_what_their_file_allows() {
    let documents = Documents::start(&[("/place.json", json!({ "minLength": 2 }))]);
    let server = Server::new("file", &documents.url("/place.json"));
    let [python, script, data] = server.command();
    let table = |fetch: &str| {
        format!(
            "listen = '127.0.0.1:0'\n{fetch}\n[servers.a]\ncommand = '{python}'\nargs = ['{script}', '{data}']\n"
        )
    };
    let name = format!("fetch-{}.toml", std::process::id());
    let file = File::new(&name, &table(&format!("[fetch]\nallow = ['{}']", documents.url("/"))));
    let guard = Guard::start(&["guard", "--config", file.path()]);
    let port = guard.port("/a/mcp");
    let url = format!("http://127.0.0.1:{port}/a/mcp");
    check(&visit_modern(false, &calls(), &[&url]));
    check(&visit_modern(false, &calls(), &[&url]));
    // The sessions of a server share what was fetched.
    assert_eq!(documents.requests(), 1);
    for (fetch, wrong) in [
        ("[fetch]\nallow = ['ftp://a/']", "has the scheme `ftp`"),
        ("[fetch]\nlimits = { documnts = 1 }", "no limit is called `documnts`"),
        ("[fetch]\ndocuments = ['no-such-folder']", "no such folder"),
        ("[fetch]\noffline = true", "without a lock file nothing can be `offline`"),
        ("[fetch]\nallow = ['a.example']\nlock = 'none/a.lock'", "No such file"),
        ("[fetch]\nalow = ['a.example']", "did you mean `allow`?"),
    ] {
        file.write(&table(fetch));
        let output =
            toolbond(&["guard", "--check-config", "--config", file.path()]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wrong), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

/// A conversation through a guard on standard input and output, at revision 2025-11-25.
struct Talk {
    guard: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    log: File,
    last: u32,
}

impl Talk {
    fn start(options: &[&str], server: &Server) -> Self {
        let log = File::new(&format!("{}.log", server.0.path()), "");
        let mut command = toolbond(&["guard"]);
        command.args(options).arg("--").args(server.command());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(fs::File::create(log.path()).unwrap());
        let mut guard = command.spawn().unwrap();
        let input = guard.stdin.take().unwrap();
        let output = BufReader::new(guard.stdout.take().unwrap());
        let mut talk = Self { guard, input, output, log, last: 0 };
        let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        talk.ask("initialize", &client);
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(talk.input, "{told}").unwrap();
        talk
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{message}").unwrap();
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn names(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    /// Ends the conversation, and returns the log of the guard.
    fn end(mut self) -> String {
        drop(self.input);
        self.guard.wait().unwrap();
        fs::read_to_string(self.log.path()).unwrap()
    }
}
