//! `toolbond guard --allow-fetch`: tools whose schemas refer to other documents.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, Talk};
use toolbond_harness::http::HttpServer;
use toolbond_harness::peers;
use toolbond_harness::process::{program, toolbond};
use toolbond_harness::wait::wait_for;

use crate::guard_peers::Client::{PythonV2, TypescriptV1, TypescriptV2};
use crate::guard_peers::visit_with;

/// Documents on a free port. Those at `/held/…` are sent when they are released.
struct Documents {
    server: HttpServer,
    held: Arc<(Mutex<bool>, Condvar)>,
}

impl Documents {
    fn start(documents: &[(&str, Value)]) -> Self {
        let documents: HashMap<_, _> =
            documents.iter().map(|(path, it)| ((*path).to_owned(), it.clone())).collect();
        let held = Arc::<(Mutex<bool>, Condvar)>::default();
        let release = Arc::clone(&held);
        let server = HttpServer::start(move |request, reply| {
            if request.path().starts_with("/held/") {
                let (released, change) = &*release;
                drop(change.wait_while(released.lock().unwrap(), |it| !*it).unwrap());
            }
            match documents.get(request.path()) {
                Some(document) => reply.json(document),
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
struct Server {
    words: Vec<String>,
    _folder: Folder,
}

impl Server {
    fn new(uri: &str) -> Self {
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
        let folder = Folder::new();
        let mut words = peers::words("servers/scripted.py");
        words.push(folder.write("script.json", script.to_string()));
        Self { words, _folder: folder }
    }

    fn command(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
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

/// Checks what a client reports of the calls when the documents came in time: a list waits for them for a second. Returns
/// how often it made the visit.
fn check(visit: impl Fn() -> Value) -> usize {
    let mut visits = 0;
    let report = wait_for("documents that come in time", || {
        visits += 1;
        Some(visit()).filter(|report| !report.to_string().contains("still being fetched"))
    });
    let text =
        |call: usize| report["calls"][call]["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(text(0), "1", "{report}");
    assert!(text(1).starts_with("invalid arguments for tool `book`"), "{report}");
    assert_eq!(text(2), "1", "{report}");
    visits
}

#[test]
fn a_tool_that_refers_to_documents_works() {
    let documents = Documents::start(&[("/a/place.json", place()), ("/a/parts.json", parts())]);
    let server = Server::new(&documents.url("/a/place.json"));
    let allow = documents.url("/a/");
    let program = program();
    let guard = [
        program.to_str().unwrap(),
        "guard",
        "--results-file",
        "none",
        "--allow-fetch",
        &allow,
        "--",
    ];
    let command: Vec<_> = guard.into_iter().chain(server.command()).collect();
    for client in [TypescriptV1, TypescriptV2, PythonV2] {
        let guards = check(|| visit_with(client, &calls(), &command));
        let requests = documents.requests();
        assert!((2..=2 * guards).contains(&requests), "{requests} requests of {guards} guards");
    }
    let (talk, whole) = listed(&["--allow-fetch", &allow], &server);
    let schema = &whole["result"]["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["where"], json!({ "$ref": "#/$defs/place" }), "{whole}");
    assert!(!schema.to_string().contains("$id"), "{whole}");
    let log = talk.end();
    assert!(!log.contains("external-ref"), "{log}");
    let (mut talk, views) = listed(&["--allow-fetch", &allow, "--for", "gemini"], &server);
    let city = &views["result"]["tools"][0]["inputSchema"]["properties"]["where"];
    assert_eq!(*city, json!({ "type": "string", "description": "a place (minLength: 2)" }));
    let refused = talk.call("book", &json!({ "where": "B" }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    talk.end();
}

#[test]
fn without_the_option_nothing_is_fetched() {
    let documents = Documents::start(&[("/place.json", place())]);
    let server = Server::new(&documents.url("/place.json"));
    let mut talk = greeted(&[], &server);
    assert_eq!(names(&mut talk), ["plain"]);
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
    let server = Server::new(&documents.url("/place.json"));
    let mut talk = greeted(&["--allow-fetch", &documents.url("/other/")], &server);
    assert_eq!(names(&mut talk), ["plain"]);
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
    let server = Server::new(&documents.url("/held/place.json"));
    let mut talk = greeted(&["--allow-fetch", &documents.url("/")], &server);
    assert_eq!(names(&mut talk), ["plain"]);
    assert_eq!(talk.call("plain", &json!({}))["result"]["structuredContent"]["n"], 1);
    let refused = talk.call("book", &json!({ "where": "Bern" }));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("still being fetched"), "{refused}");
    documents.release();
    let told = talk.answer();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(names(&mut talk), ["book", "plain"]);
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
    let server = Server::new(&documents.url("/place.json"));
    let (program, arguments) = server.words.split_first().unwrap();
    let table = |fetch: &str| {
        format!("{fetch}\n[servers.a]\ncommand = '{program}'\nargs = {arguments:?}\n")
    };
    let guard = Configured::start(&table(&format!("[fetch]\nallow = ['{}']", documents.url("/"))));
    let port = guard.port("/a/mcp");
    let url = format!("http://127.0.0.1:{port}/a/mcp");
    for _ in 0..2 {
        check(|| visit_with(TypescriptV2, &calls(), &[&url]));
    }
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
        let folder = Folder::new();
        let file = folder.write("toolbond.toml", table(fetch));
        let output = toolbond(&["guard", "--check-config", "--config", &file]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wrong), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

/// A conversation through a guard on standard input and output, at revision 2025-11-25.
fn greeted(options: &[&str], server: &Server) -> Talk {
    let mut talk = Talk::start(options, &server.command());
    talk.greet(&json!({}));
    talk
}

/// The same, and the list of both tools, when the documents came in time.
fn listed(options: &[&str], server: &Server) -> (Talk, Value) {
    wait_for("documents that come in time", || {
        let mut talk = greeted(options, server);
        let listed = talk.request("tools/list", &json!({}));
        let is_whole = listed["result"]["tools"].as_array().is_some_and(|tools| tools.len() == 2);
        is_whole.then_some((talk, listed))
    })
}

/// The names of the tools.
fn names(talk: &mut Talk) -> Vec<String> {
    let listed = talk.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}
