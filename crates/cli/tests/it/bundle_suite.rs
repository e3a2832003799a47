//! `toolbond bundle` on the `refRemote` cases of the official suite: over HTTP and from a folder.

use std::fs;

use serde_json::{Value, json};
use toolbond_contract::bundle::{self, Document};
use toolbond_harness::files::Folder;
use toolbond_harness::http::HttpServer;
use toolbond_harness::suite;
use toolbond_schema::Schema;

use crate::command::{texts, toolbond};

/// The URI of the remotes, which the cases name.
const REMOTES: &str = "http://localhost:1234/";

/// The bundle of `schema` by the library.
fn bundle_by_library(schema: &Value) -> Value {
    let mut documents = Vec::new();
    loop {
        let missing = bundle::missing(schema, None, &documents).unwrap();
        if missing.is_empty() {
            return bundle::bundle(schema, None, &documents).unwrap().into_owned();
        }
        for missing in missing {
            let path = suite::remotes().join(missing.uri.strip_prefix(REMOTES).unwrap());
            let value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            documents.push(Document::new(missing.uri, value));
        }
    }
}

#[test]
fn remote_references_of_the_suite_give_its_verdicts() {
    let folder = Folder::new();
    let remotes = suite::remotes();
    let from_folder = format!("{REMOTES}={}", remotes.display());
    let server = HttpServer::start(move |request, reply| {
        match fs::read(remotes.join(request.path().trim_start_matches('/'))) {
            Ok(document) => reply.send("200 OK", "", document),
            Err(_) => reply.send("404 Not Found", "", ""),
        }
    });
    // Port 1234 may be taken: a proxy takes its requests to another one.
    let proxy = HttpServer::proxy(move |authority| {
        assert_eq!(authority, "localhost:1234");
        server.port
    });
    let mut count = 0;
    for file in suite::files().iter().filter(|file| file.name.ends_with("/refRemote.json")) {
        let mut groups = file.groups();
        let mut tools = Vec::new();
        for (index, group) in groups.iter_mut().enumerate() {
            // Older drafts of the suite do not say which draft they are.
            if group.schema.get("$schema").is_none() {
                group.schema["$schema"] = file.dialect.uri().into();
            }
            tools.push(json!({ "name": index.to_string(), "inputSchema": group.schema }));
        }
        let list = folder.write("tools.json", json!({ "tools": tools }).to_string());
        let local = toolbond(&["bundle", "--documents", &from_folder, &list]).output().unwrap();
        let (code, local, said) = texts(local);
        assert_eq!(code, Some(0), "{}: {said}", file.name);
        let allow = ["--allow", REMOTES, "--allow", "127.0.0.1", "--allow", "::1"];
        let mut over_http = toolbond(&["bundle", "--proxy-from-environment"]);
        over_http.args(allow).arg(&list).env_remove("NO_PROXY").env_remove("no_proxy");
        over_http.env("HTTP_PROXY", proxy.url("")).env("http_proxy", proxy.url(""));
        let (code, over_http, said) = texts(over_http.output().unwrap());
        assert_eq!(code, Some(0), "{}: {said}", file.name);
        assert_eq!(local, over_http, "{}", file.name);
        let requests = proxy.take();
        assert_eq!(requests.len(), said.lines().count(), "{requests:?} {said}");
        assert!(!requests.is_empty());
        let bundled: Value = serde_json::from_str(&local).unwrap();
        for (group, tool) in groups.iter().zip(bundled["tools"].as_array().unwrap()) {
            let (name, bundle) =
                (format!("{}: {}", file.name, group.description), &tool["inputSchema"]);
            assert_eq!(bundle.to_string(), bundle_by_library(&group.schema).to_string(), "{name}");
            let schema = Schema::compile(bundle).unwrap_or_else(|error| panic!("{name}: {error}"));
            for case in &group.tests {
                let is_valid = schema.validate(&case.data).is_valid();
                assert_eq!(is_valid, case.valid, "{name}: {}: {bundle:#}", case.description);
                count += 1;
            }
        }
    }
    eprintln!("{count} cases");
    assert!(count > 100, "{count}");
}
