//! `toolbond bundle` on the `refRemote` cases of the official suite: over HTTP and from a folder.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use toolbond_contract::bundle::{self, Document};
use toolbond_harness::suite;
use toolbond_schema::Schema;

use crate::command::toolbond;
use crate::documents::{Folder, Requests, serve};

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
    let folder = Folder::new("suite");
    let remotes = suite::remotes();
    let from_folder = format!("{REMOTES}={}", remotes.display());
    let listeners: Vec<_> = ["127.0.0.1:1234", "[::1]:1234"].map(TcpListener::bind).into();
    let served = match &listeners[0] {
        Ok(_) => {
            let find = move |path: &str| fs::read(remotes.join(path.trim_start_matches('/'))).ok();
            let listeners = listeners.into_iter().flatten();
            Some(listeners.map(|it| serve(it, find.clone())).collect::<Vec<_>>())
        }
        Err(error) => {
            eprintln!("skipped over HTTP: port 1234, which the suite names: {error}");
            None
        }
    };
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
        let list = folder.write("tools.json", &json!({ "tools": tools }).to_string());
        let local = toolbond(&["bundle", "--documents", &from_folder, &list]).output().unwrap();
        let said = String::from_utf8_lossy(&local.stderr);
        assert_eq!(local.status.code(), Some(0), "{}: {said}", file.name);
        if let Some(servers) = &served {
            let allow = ["--allow", REMOTES, "--allow", "127.0.0.1", "--allow", "::1", &list];
            let over_http = toolbond(&["bundle"]).args(allow).output().unwrap();
            let said = String::from_utf8_lossy(&over_http.stderr);
            assert_eq!(over_http.status.code(), Some(0), "{}: {said}", file.name);
            assert_eq!(local.stdout, over_http.stdout, "{}", file.name);
            let requests: Vec<_> = servers.iter().flat_map(Requests::take).collect();
            assert_eq!(requests.len(), said.lines().count(), "{requests:?} {said}");
            assert!(!requests.is_empty());
        }
        let bundled: Value = serde_json::from_slice(&local.stdout).unwrap();
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
