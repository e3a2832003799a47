//! Local files and folders.

use std::fs;

use serde_json::json;
use toolbond_fetch::{DocumentErrorKind, FetchLimits, Fetcher, Policy};
use toolbond_harness::files::Folder;

use crate::{allowing, fetch, referring_to, refusal};

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    for (name, text) in files {
        fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        folder.write(name, text);
    }
    folder
}

#[tokio::test]
async fn a_file_is_read_only_where_it_is_allowed() {
    let folder = folder(&[
        ("open/a b.json", "{\"$ref\":\"c.json\"}"),
        ("open/c.json", "{}"),
        ("closed/secret.json", "{}"),
    ]);
    let at = format!("file://{}", folder.path().display());
    let policy = || allowing(&[&format!("{at}/open/")]);
    let open = |name: &str| format!("{at}/open/{name}");
    assert_eq!(fetch(policy(), &open("a%20b.json")).await.unwrap().len(), 2);
    let mut limits = FetchLimits::default();
    limits.document_bytes = 1;
    let not_allowed = "is not allowed";
    for (policy, uri, reason) in [
        (policy(), format!("{at}/closed/secret.json"), not_allowed),
        (policy(), open("../closed/secret.json"), not_allowed),
        (policy(), open("..%2fclosed/secret.json"), not_allowed),
        (policy(), "file:///etc/hostname".to_owned(), not_allowed),
        (Policy::default(), open("c.json"), not_allowed),
        (policy(), open("none.json"), "cannot be read: no such file"),
        (policy(), open(""), "cannot be read: not a file"),
        (policy().limits(limits), open("c.json"), "has more than 1 bytes"),
    ] {
        assert_eq!(refusal(policy, &uri).await.to_string(), reason, "{uri}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_pipes_lead_nowhere() {
    use DocumentErrorKind::{NotAllowed, NotInFolders};
    use std::os::unix::fs::symlink;

    let folder = folder(&[("secret.json", "{}"), ("open/plain.json", "{}")]);
    symlink(folder.join("secret.json"), folder.join("open/a.json")).unwrap();
    symlink("/dev/zero", folder.join("open/zero.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("open/pipe.json")).status();
    assert!(made.unwrap().success());
    let at = format!("file://{}/", folder.join("open"));
    // The same holds for `--documents`.
    let mapped = format!("https://example.com/={}", folder.join("open"));
    let mapped = Policy::default().documents(&mapped).unwrap();
    for name in ["a.json", "zero.json", "pipe.json"] {
        let kind = refusal(allowing(&[&at]), &format!("{at}{name}")).await;
        match name {
            "pipe.json" => assert_eq!(kind.to_string(), "cannot be read: not a file"),
            _ => assert_eq!(kind, NotAllowed, "{name}"),
        }
        let kind = refusal(mapped.clone(), &format!("https://example.com/{name}")).await;
        assert!(matches!(kind, NotAllowed | NotInFolders), "{name}");
    }
}

#[tokio::test]
async fn a_folder_stands_for_urls() {
    let folder = folder(&[
        ("example.com/v1/a.json", "{\"$ref\":\"b.json\"}"),
        ("example.com/v1/b.json", "{}"),
        ("localhost:1234/c.json", "{}"),
        ("flat.json", "{\"$id\":\"https://example.org/flat\"}"),
        ("old.json", "{\"id\":\"urn:example:old#\"}"),
        ("deep/deeper/d.json", "{\"$id\":\"urn:example:d\"}"),
        ("wrong.json", "{"),
    ]);
    let policy = Policy::default().documents(&folder.join("")).unwrap();
    for (uri, count) in [
        ("https://example.com/v1/a.json", 2),
        ("http://localhost:1234/c.json#", 1),
        ("https://example.org/flat", 1),
        ("urn:example:old", 1),
        ("urn:example:d", 1),
    ] {
        assert_eq!(fetch(policy.clone(), uri).await.unwrap().len(), count, "{uri}");
    }
    let v1 = folder.join("example.com/v1");
    let mapped = Policy::default().documents(&format!("https://other.example/x/={v1}")).unwrap();
    let documents = fetch(mapped.clone(), "https://other.example/x/a.json").await.unwrap();
    assert_eq!(documents[1].uri, "https://other.example/x/b.json");
    let mapped = mapped.documents(&format!("https://third.example/x={v1}")).unwrap();
    fetch(mapped.clone(), "https://third.example/x/b.json").await.unwrap();
    for uri in [
        "https://other.example/a.json",
        "https://other.example/x/..%2fv1/a.json",
        "https://third.example/xb.json",
    ] {
        assert_eq!(refusal(mapped.clone(), uri).await, DocumentErrorKind::NotInFolders, "{uri}");
    }
    let kind = refusal(policy, "urn:example:none").await;
    assert_eq!(kind.to_string(), "has the scheme `urn`, expected `https`, `http` or `file`");
    let error = Policy::default().documents("/no/such/folder").unwrap_err();
    assert_eq!(error.to_string(), "`/no/such/folder`: no such folder");
}

#[tokio::test]
async fn a_tool_is_bundled_and_others_stay_as_they_are() {
    let folder = folder(&[("a.json", "{\"type\":\"object\"}")]);
    let policy = Policy::default().documents(&format!("https://example.com/={}", folder.join("")));
    let fetcher = Fetcher::new(policy.unwrap()).unwrap();
    let tool = json!({ "name": "a", "inputSchema": referring_to("https://example.com/a.json") });
    let bundled = fetcher.bundle_tool(&tool).await.unwrap().unwrap();
    assert_eq!(bundled["inputSchema"]["$defs"]["a"], json!({ "type": "object" }));
    assert_eq!(fetcher.bundle_tool(&bundled).await.unwrap(), None);
    let plain = json!({ "name": "b", "inputSchema": { "type": "object" }, "outputSchema": null });
    assert_eq!(fetcher.bundle_tool(&plain).await.unwrap(), None);
    let wrong = json!({
        "inputSchema": { "type": "object" },
        "outputSchema": { "items": referring_to("https://example.com/none.json") },
    });
    assert_eq!(
        fetcher.bundle_tool(&wrong).await.unwrap_err().to_string(),
        "outputSchema: #/items/$ref refers to https://example.com/none.json, which is not in a folder of documents, and is \
         not allowed to be fetched"
    );
}
