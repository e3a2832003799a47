//! Local files and folders.

use std::fs;

use serde_json::json;
use toolbond_fetch::{DocumentErrorKind, Fetcher, Limits, Policy};

use crate::{allowing, fetch, folder, referring_to, refusal};

#[tokio::test]
async fn a_file_is_read_only_where_it_is_allowed() {
    let folder = folder("files");
    fs::create_dir_all(folder.join("open")).unwrap();
    fs::create_dir_all(folder.join("closed")).unwrap();
    fs::write(folder.join("open/a b.json"), "{\"$ref\":\"c.json\"}").unwrap();
    fs::write(folder.join("open/c.json"), "{}").unwrap();
    fs::write(folder.join("closed/secret.json"), "{}").unwrap();
    let at = format!("file://{}", folder.display());
    let policy = || allowing(&[&format!("{at}/open/")]);
    assert_eq!(fetch(policy(), &format!("{at}/open/a%20b.json")).await.unwrap().len(), 2);
    let not_allowed = [
        format!("{at}/closed/secret.json"),
        format!("{at}/open/../closed/secret.json"),
        format!("{at}/open/..%2fclosed/secret.json"),
        "file:///etc/hostname".to_owned(),
    ];
    for uri in not_allowed {
        assert_eq!(refusal(policy(), &uri).await, DocumentErrorKind::NotAllowed, "{uri}");
    }
    let missing = refusal(policy(), &format!("{at}/open/none.json")).await;
    assert_eq!(missing.to_string(), "cannot be read: no such file");
    let is_folder = refusal(policy(), &format!("{at}/open/")).await;
    assert_eq!(is_folder.to_string(), "cannot be read: not a file");
    assert_eq!(
        refusal(Policy::default(), &format!("{at}/open/c.json")).await,
        DocumentErrorKind::NotAllowed
    );
    let mut limits = Limits::default();
    limits.document_bytes = 1;
    let large = refusal(policy().limits(limits), &format!("{at}/open/c.json")).await;
    assert_eq!(large, DocumentErrorKind::DocumentBytes { limit: 1 });
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_pipes_lead_nowhere() {
    let folder = folder("links");
    fs::create_dir_all(folder.join("open")).unwrap();
    fs::write(folder.join("secret.json"), "{}").unwrap();
    std::os::unix::fs::symlink(folder.join("secret.json"), folder.join("open/a.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("open/zero.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("open/pipe.json")).status();
    assert!(made.unwrap().success());
    let at = format!("file://{}/open/", folder.display());
    for name in ["a.json", "zero.json"] {
        let kind = refusal(allowing(&[&at]), &format!("{at}{name}")).await;
        assert_eq!(kind, DocumentErrorKind::NotAllowed, "{name}");
    }
    let kind = refusal(allowing(&[&at]), &format!("{at}pipe.json")).await;
    assert_eq!(kind.to_string(), "cannot be read: not a file");
    // The same holds for `--documents`.
    let local = folder.join("open").display().to_string();
    for name in ["a.json", "zero.json", "pipe.json"] {
        let policy = Policy::default().documents(&format!("https://example.com/={local}")).unwrap();
        let kind = refusal(policy, &format!("https://example.com/{name}")).await;
        assert!(
            matches!(kind, DocumentErrorKind::NotAllowed | DocumentErrorKind::NotInFolders),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_folder_stands_for_urls() {
    let folder = folder("documents");
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("example.com/v1/a.json", "{\"$ref\":\"b.json\"}");
    write("example.com/v1/b.json", "{}");
    write("localhost:1234/c.json", "{}");
    write("flat.json", "{\"$id\":\"https://example.org/flat\"}");
    write("old.json", "{\"id\":\"urn:example:old#\"}");
    write("deep/deeper/d.json", "{\"$id\":\"urn:example:d\"}");
    write("wrong.json", "{");
    let plain = folder.display().to_string();
    let policy = || Policy::default().documents(&plain).unwrap();
    for (uri, count) in [
        ("https://example.com/v1/a.json", 2),
        ("http://localhost:1234/c.json#", 1),
        ("https://example.org/flat", 1),
        ("urn:example:old", 1),
        ("urn:example:d", 1),
    ] {
        assert_eq!(fetch(policy(), uri).await.unwrap().len(), count, "{uri}");
    }
    let v1 = folder.join("example.com/v1").display().to_string();
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
    let kind = refusal(policy(), "urn:example:none").await;
    assert_eq!(kind.to_string(), "has the scheme `urn`, expected `https`, `http` or `file`");
    let error = Policy::default().documents("/no/such/folder").unwrap_err();
    assert_eq!(error.to_string(), "`/no/such/folder`: no such folder");
}

#[tokio::test]
async fn a_tool_is_bundled_and_others_stay_as_they_are() {
    let folder = folder("tools");
    fs::write(folder.join("a.json"), "{\"type\":\"object\"}").unwrap();
    let policy = Policy::default().documents(&format!("https://example.com/={}", folder.display()));
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
