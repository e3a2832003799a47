//! `toolbond bundle`: what is written, what is reported, and exit codes.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::{Output, Stdio};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_harness::corpus;

use crate::command::{commands, toolbond, toolbond_with};
use crate::documents::{Folder, Requests, serve};

const DOCUMENTS: &str = "https://schemas.example.com/=bundle/schemas";

commands! {
    explains_bundling: ["bundle", "--help"];
    bundles_what_it_can: ["bundle", "--documents", DOCUMENTS, "bundle/tools.json"];
    bundles_in_the_flat_form: ["bundle", "--flat", "--documents", DOCUMENTS, "bundle/tools.json"];
    flattens_a_schema_of_draft_07: ["bundle", "--flat", "--documents", DOCUMENTS, "bundle/order.draft-07.json"];
    warns_of_what_has_no_flat_form: ["bundle", "--flat", "bundle/dynamic.json"];
    views_a_bundle: ["view", "--for", "gemini", "bundle/bundled.tool.json"];
    bundles_a_tool: ["bundle", "--documents", DOCUMENTS, "bundle/order.tool.json"];
    bundles_a_schema_of_draft_07: ["bundle", "--documents", DOCUMENTS, "bundle/order.draft-07.json"];
    bundles_yaml_as_json: ["bundle", "--documents", DOCUMENTS, "bundle/order.yaml"];
    finds_documents_by_their_id: ["bundle", "--documents", "bundle/by-id", "bundle/order.tool.json"];
    resolves_references_with_a_base: ["bundle", "--documents", DOCUMENTS, "--base", "https://schemas.example.com/", "bundle/relative.json"];
    fetches_nothing_by_default: ["bundle", "bundle/order.tool.json"];
    refuses_a_bundle_that_cannot_be_used: ["bundle", "--documents", DOCUMENTS, "bundle/invalid.json"];
    stops_at_a_limit: ["bundle", "--documents", DOCUMENTS, "--limit", "documents=1", "bundle/order.tool.json"];
    bundles_no_results: ["bundle", "count.result.json"];
    bundles_no_list_of_values: ["bundle", "calls.jsonl"];
    needs_a_lock_for_offline: ["bundle", "--offline", "bundle/tools.json"];
    needs_a_lock_for_a_cache: ["bundle", "--cache", "bundle", "bundle/tools.json"];
    needs_a_network_for_a_proxy: ["bundle", "--lock", "x.lock", "--offline", "--proxy-from-environment", "bundle/tools.json"];
    allows_no_other_scheme: ["bundle", "--allow", "ftp://example.com/", "bundle/tools.json"];
    needs_a_folder_that_exists: ["bundle", "--documents", "https://example.com/=nowhere", "bundle/tools.json"];
    needs_a_base_that_is_a_uri: ["bundle", "--base", "schemas", "bundle/tools.json"];
    needs_a_limit_that_exists: ["bundle", "--limit", "width=3", "bundle/tools.json"];
    needs_certificates_in_the_ca_file: ["bundle", "--ca-file", "bundle/tools.json", "bundle/tools.json"];
    needs_a_lock_file_of_its_own: ["bundle", "--lock", "bundle/tools.json", "bundle/tools.json"];
}

fn text(output: &Output) -> (Option<i32>, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A server for `address.json`, which is each of `texts` in turn.
fn server<const N: usize>(texts: [&'static str; N]) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let left = std::sync::Mutex::new(texts.into_iter());
    let requests = serve(listener, move |path| {
        let text = (path == "/address.json").then(|| left.lock().unwrap().next()).flatten();
        text.map(|text| text.as_bytes().to_vec())
    });
    (url, requests)
}

#[test]
fn only_what_is_bundled_changes() {
    let (url, requests) = server([r#"{ "required": ["city"] }"#]);
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
    let (code, printed, said) = text(&output);
    let bundled = format!(
        r#"{{ "type":"object", "$ref": "{url}address.json", "x": 1.50, "$defs": {{ "address": {{ "$id": "{url}address.json", "required": ["city"] }} }} }}"#
    );
    assert_eq!((code, printed), (Some(0), &*list(&bundled)), "{said}");
    assert_eq!(requests.take(), ["GET /address.json HTTP/1.1"]);
    let line = said.trim_end();
    assert!(
        line.starts_with(&format!("fetch {url}address.json 127.0.0.1 200 24 B sha256:")),
        "{said}"
    );
    assert!(line.ends_with(" ms") && line.lines().count() == 1, "{said}");

    // A second time nothing has to be done.
    let again = toolbond_with(&["bundle"], printed);
    assert_eq!(text(&again), (Some(0), printed, ""));
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
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let folder = Folder::new("corpus");
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
    let output = toolbond(&["bundle", &path]).output().unwrap();
    let (code, printed, said) = text(&output);
    assert!(files.len() > 100 && code == Some(0) && said.is_empty(), "{said}");
    assert!(printed == all, "the text changed");
}

#[test]
fn a_lock_file_refuses_what_has_changed_and_works_offline() {
    let folder = Folder::new("lock");
    let (lock, cache) = (folder.path("toolbond.lock"), folder.path("cache"));
    let (one, two) = (r#"{"maximum":1}"#, r#"{"maximum":2}"#);
    let (url, requests) = server([one, one, one, two, two]);
    let schema = folder.write("s.json", &format!(r#"{{"$ref":"{url}address.json"}}"#));
    let run = |options: &[&str]| {
        let mut command = toolbond(&["bundle", "--lock", &lock, "--cache", &cache]);
        command.args(options).arg(&schema).output().unwrap()
    };
    let allowed = ["--allow", url.as_str()];

    let offline = run(&["--offline"]);
    let (code, _, said) = text(&offline);
    assert_eq!(code, Some(2));
    assert!(said.contains("toolbond.lock: No such file"), "{said}");

    let empty = "{\n  \"version\": 1,\n  \"documents\": {}\n}\n";
    std::fs::write(&lock, empty).unwrap();
    for options in [&["--offline"][..], &["--locked", "--allow", &url]] {
        let unknown = run(options);
        let (code, _, said) = text(&unknown);
        assert!(code == Some(1) && said.contains("which is not in the lock file"), "{said}");
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), empty);
    }
    assert_eq!(requests.take().len(), 1);
    std::fs::remove_file(&lock).unwrap();

    let first = run(&allowed);
    assert_eq!(first.status.code(), Some(0));
    let recorded = std::fs::read_to_string(&lock).unwrap();
    let digest = &text(&first).2.split("sha256:").nth(1).unwrap()[..64];
    assert!(recorded.contains(digest), "{recorded}");

    let second = run(&allowed);
    assert_eq!((second.status.code(), &second.stdout), (Some(0), &first.stdout));
    assert_eq!(requests.take().len(), 2);

    let changed = run(&allowed);
    let (code, printed, said) = text(&changed);
    assert_eq!((code, printed), (Some(1), &*std::fs::read_to_string(&schema).unwrap()));
    assert!(said.contains(&format!("has changed: the lock has sha256:{digest}, found sha256:")));
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), recorded);
    assert_eq!(requests.take().len(), 1);

    let offline = run(&["--offline"]);
    assert_eq!((offline.status.code(), &offline.stdout), (Some(0), &first.stdout));
    assert_eq!(requests.take(), [""; 0]);

    std::fs::remove_dir_all(&cache).unwrap();
    let offline = run(&["--offline"]);
    let (code, _, said) = text(&offline);
    assert!(code == Some(1) && said.contains("which is not in the cache"), "{said}");

    std::fs::write(&lock, "{}").unwrap();
    let unusable = run(&allowed);
    let (code, printed, said) = text(&unusable);
    assert_eq!((code, printed, said.lines().count()), (Some(2), "", 1));
    assert!(said.contains("expected a lock file of `toolbond`"), "{said}");
}

#[test]
fn an_address_that_is_not_public_has_to_be_named() {
    let (url, requests) = server(["{}"]);
    let by_name = url.replace("127.0.0.1", "localhost");
    let schema = format!(r#"{{"$ref":"{by_name}address.json"}}"#);
    let output = toolbond_with(&["bundle", "--allow", &by_name], &schema);
    let (code, printed, said) = text(&output);
    assert_eq!((code, printed), (Some(1), &*schema));
    assert!(said.contains("a loopback address (if you trust it, add `--allow "), "{said}");
    assert_eq!(requests.take(), [""; 0]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = toolbond(&["bundle", "--documents", DOCUMENTS, "bundle/order.tool.json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn a_relative_reference_is_relative_to_the_file() {
    let folder = Folder::new("relative");
    folder.write("address.json", r#"{"required":["city"]}"#);
    let schema = folder.write("s.json", r#"{"$ref":"address.json"}"#);
    let refused = toolbond(&["bundle", &schema]).output().unwrap();
    let (code, printed, said) = text(&refused);
    assert_eq!((code, printed), (Some(1), r#"{"$ref":"address.json"}"#));
    let allow = said.split("`--allow ").nth(1).unwrap().split('`').next().unwrap();
    assert!(allow.starts_with("file:///") && allow.ends_with('/'), "{said}");
    // What the hint says works.
    let bundled = toolbond(&["bundle", "--allow", allow, &schema]).output().unwrap();
    let (code, printed, said) = text(&bundled);
    assert_eq!(code, Some(0), "{said}");
    let bundled: Value = serde_json::from_str(printed).unwrap();
    assert_eq!(bundled["$ref"], format!("{allow}address.json"));
    assert_eq!(bundled["$defs"]["address"]["required"][0], "city");
}
