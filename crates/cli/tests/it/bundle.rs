//! `toolbond bundle`: what it fetches, what it locks, and what stays byte for byte.

use std::process::Stdio;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_harness::files::Folder;
use toolbond_harness::http::HttpServer;
use toolbond_harness::{corpus, skip};

use crate::command::{texts, toolbond, toolbond_with};

/// A server for `address.json`, which is each of `texts` in turn, and its URL.
fn server<const N: usize>(texts: [&'static str; N]) -> (String, HttpServer) {
    let left = Mutex::new(texts.into_iter());
    let server = HttpServer::start(move |request, reply| {
        let text = (request.path() == "/address.json").then(|| left.lock().unwrap().next());
        match text.flatten() {
            Some(text) => reply.send("200 OK", "", text),
            None => reply.send("404 Not Found", "", ""),
        }
    });
    (server.url("/"), server)
}

#[test]
fn only_what_is_bundled_changes() {
    let (url, server) = server([r#"{ "required": ["city"] }"#]);
    let order = format!(r#"{{ "type":"object", "$ref": "{url}address.json", "x": 1.50 }}"#);
    let others = [
        r#"{"name" : "numbers", "inputSchema": {"type":"object","const":12345678901234567890123456789},"n":[1.0,1E2,-0.0,1e400,0.1e-7]}"#,
        r#"{"name":"\u0065scapes","inputSchema":{ "type": "\u006fbject" },"title":"\/ \ud83d\ude00 ü","title":"twice"}"#,
        r#"{"inputSchema":null,"name":7}"#,
        "null",
        r#"{"name":"unknown","x-y":{ "$ref" : "https://example.com/a.json" },"_meta":{"a/b":[ ]}}"#,
    ];
    let (before, after) = (others[..2].join(","), others[2..].join(",\t"));
    let list = |order: &str| {
        format!(
            "\u{feff}\r\n{{\"jsonrpc\":\"2.0\",\t\"id\":9007199254740993, \"result\" :{{\"tools\":[{before}, {{\"name\":\"order\",\"inputSchema\":{order} }},\n{after} ],\"nextCursor\":\"\\u0041\"}} }}\r\n\n"
        )
    };
    let output = toolbond_with(&["bundle", "--allow", &url], &list(&order));
    let (code, printed, said) = texts(output);
    let bundled = format!(
        r#"{{ "type":"object", "$ref": "{url}address.json", "x": 1.50, "$defs": {{ "address": {{ "$id": "{url}address.json", "required": ["city"] }} }} }}"#
    );
    assert_eq!((code, &printed), (Some(0), &list(&bundled)), "{said}");
    let requests = server.take();
    assert_eq!((requests.len(), requests[0].line()), (1, "GET /address.json HTTP/1.1"));
    let line = said.trim_end();
    assert!(
        line.starts_with(&format!("fetch {url}address.json 127.0.0.1 200 24 B sha256:")),
        "{said}"
    );
    assert!(line.ends_with(" ms") && line.lines().count() == 1, "{said}");

    // A second time nothing has to be done.
    let again = toolbond_with(&["bundle"], &printed);
    assert_eq!(texts(again), (Some(0), printed, String::new()));
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[test]
fn published_lists_leave_byte_for_byte() {
    let files = match corpus::files() {
        Ok(files) => files,
        Err(reason) => return skip(&reason),
    };
    let folder = Folder::new();
    let mut all = String::from("{\"tools\":[");
    for file in &files {
        let text = file.text();
        let list: List<'_> = serde_json::from_str(&text).unwrap();
        for tool in list.tools {
            all.push_str(if all.ends_with('[') { " " } else { ",\n" });
            all.push_str(tool.get());
        }
    }
    all.push_str("]}\n");
    let path = folder.write("tools.json", &all);
    let (code, printed, said) = texts(toolbond(&["bundle", &path]).output().unwrap());
    assert!(files.len() > 100 && code == Some(0) && said.is_empty(), "{said}");
    assert!(printed == all, "the text changed");
}

#[test]
fn a_lock_file_refuses_what_has_changed_and_works_offline() {
    let folder = Folder::new();
    let (lock, cache) = (folder.join("toolbond.lock"), folder.join("cache"));
    let (one, two) = (r#"{"maximum":1}"#, r#"{"maximum":2}"#);
    let (url, server) = server([one, one, one, two, two]);
    let schema = folder.write("s.json", format!(r#"{{"$ref":"{url}address.json"}}"#));
    let run = |options: &[&str]| {
        let mut command = toolbond(&["bundle", "--lock", &lock, "--cache", &cache]);
        texts(command.args(options).arg(&schema).output().unwrap())
    };
    let allowed = ["--allow", url.as_str()];

    let (code, _, said) = run(&["--offline"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("toolbond.lock: No such file"), "{said}");

    let empty = "{\n  \"version\": 1,\n  \"documents\": {}\n}\n";
    std::fs::write(&lock, empty).unwrap();
    for options in [&["--offline"][..], &["--locked", "--allow", &url]] {
        let (code, _, said) = run(options);
        assert!(code == Some(1) && said.contains("which is not in the lock file"), "{said}");
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), empty);
    }
    assert_eq!(server.take().len(), 1);
    std::fs::remove_file(&lock).unwrap();

    let (code, first, said) = run(&allowed);
    assert_eq!(code, Some(0));
    let recorded = std::fs::read_to_string(&lock).unwrap();
    let digest = &said.split("sha256:").nth(1).unwrap()[..64];
    assert!(recorded.contains(digest), "{recorded}");

    let (code, second, _) = run(&allowed);
    assert_eq!((code, &second), (Some(0), &first));
    assert_eq!(server.take().len(), 2);

    let (code, printed, said) = run(&allowed);
    assert_eq!((code, printed), (Some(1), std::fs::read_to_string(&schema).unwrap()));
    assert!(said.contains(&format!("has changed: the lock has sha256:{digest}, found sha256:")));
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), recorded);
    assert_eq!(server.take().len(), 1);

    let (code, offline, _) = run(&["--offline"]);
    assert_eq!((code, offline), (Some(0), first));
    assert!(server.take().is_empty());

    std::fs::remove_dir_all(&cache).unwrap();
    let (code, _, said) = run(&["--offline"]);
    assert!(code == Some(1) && said.contains("which is not in the cache"), "{said}");

    std::fs::write(&lock, "{}").unwrap();
    let (code, printed, said) = run(&allowed);
    assert_eq!((code, printed.as_str(), said.lines().count()), (Some(2), "", 1));
    assert!(said.contains("expected a lock file of `toolbond`"), "{said}");
}

#[test]
fn an_address_that_is_not_public_has_to_be_named() {
    let (url, server) = server(["{}"]);
    let by_name = url.replace("127.0.0.1", "localhost");
    let schema = format!(r#"{{"$ref":"{by_name}address.json"}}"#);
    let (code, printed, said) = texts(toolbond_with(&["bundle", "--allow", &by_name], &schema));
    assert_eq!((code, printed), (Some(1), schema));
    assert!(said.contains("a loopback address (if you trust it, add `--allow "), "{said}");
    assert!(server.take().is_empty());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let documents = "https://schemas.example.com/=bundle/schemas";
    let mut command = toolbond(&["bundle", "--documents", documents, "bundle/order.tool.json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let (code, _, said) = texts(child.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn a_relative_reference_is_relative_to_the_file() {
    let folder = Folder::new();
    folder.write("address.json", r#"{"required":["city"]}"#);
    let schema = folder.write("s.json", r#"{"$ref":"address.json"}"#);
    let (code, printed, said) = texts(toolbond(&["bundle", &schema]).output().unwrap());
    assert_eq!((code, printed.as_str()), (Some(1), r#"{"$ref":"address.json"}"#));
    let allow = said.split("`--allow ").nth(1).unwrap().split('`').next().unwrap();
    assert!(allow.starts_with("file:///") && allow.ends_with('/'), "{said}");
    // What the hint says works.
    let bundled = toolbond(&["bundle", "--allow", allow, &schema]).output().unwrap();
    let (code, printed, said) = texts(bundled);
    assert_eq!(code, Some(0), "{said}");
    let bundled: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(bundled["$ref"], format!("{allow}address.json"));
    assert_eq!(bundled["$defs"]["address"]["required"][0], "city");
}
