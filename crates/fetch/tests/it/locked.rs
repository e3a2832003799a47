//! The lock file and the cache.

use std::fs;

use toolbond_contract::bundle::Document;
use toolbond_fetch::{DocumentErrorKind, Fetcher, LockError, Policy};
use toolbond_harness::address;
use toolbond_harness::files::Folder;

use crate::server::{json, redirect, start};
use crate::{allowing, documents, referring_to};

/// A folder for a lock file and a cache.
struct Locked(Folder);

impl Locked {
    fn new() -> Self {
        Self(Folder::new())
    }

    /// A policy with both that allows what starts with `url`.
    fn policy(&self, url: &str) -> Policy {
        allowing(&[url]).lock(self.0.join("schemas.lock")).cache(self.0.join("cache"))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.0.join("schemas.lock")).unwrap()
    }

    fn write(&self, text: &str) {
        self.0.write("schemas.lock", text);
    }
}

/// Fetches the document at `uri`, and saves the lock file.
async fn run(policy: Policy, uri: &str) -> Result<Document, DocumentErrorKind> {
    let fetcher = Fetcher::new(policy).unwrap();
    let documents = documents(&fetcher, &referring_to(uri)).await;
    fetcher.save_lock().unwrap();
    Ok(documents?.remove(0))
}

#[tokio::test]
async fn a_changed_document_is_refused_until_it_is_removed_from_the_lock() {
    let server = start([("/a", json("{}")), ("/b", json("{}"))]);
    let (locked, a, b) = (Locked::new(), server.url("/a"), server.url("/b"));
    let policy = || locked.policy(&server.url("/"));
    run(policy(), &a).await.unwrap();
    let text = locked.text();
    let found = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a".to_owned();
    assert!(text.contains(&a) && text.contains(&found), "{text}");
    run(policy(), &a).await.unwrap();
    assert_eq!(locked.text(), text);

    let wrong = "0".repeat(64);
    let other = text.replace(&found, &wrong);
    locked.write(&other);
    let changed = run(policy(), &a).await;
    assert_eq!(changed, Err(DocumentErrorKind::Changed { locked: wrong, found }));
    assert_eq!(locked.text(), other);
    // Others are added as before.
    run(policy(), &b).await.unwrap();
    locked.write("{\"version\":1,\"documents\":{}}");
    run(policy(), &a).await.unwrap();
    assert_eq!(locked.text(), text);
}

#[tokio::test]
async fn a_run_without_network_takes_documents_from_the_cache() {
    let server = start([("/a", redirect("/b")), ("/b", json("{\"title\":\"b\"}"))]);
    let (locked, a) = (Locked::new(), server.url("/a"));
    let policy = || locked.policy(&server.url("/"));
    let online = run(policy(), &a).await;
    assert_eq!(server.connections(), 2);
    let offline = async |uri: &str| run(policy().offline(true), uri).await;
    assert!(online.is_ok());
    assert_eq!(offline(&a).await, online);
    assert_eq!(offline(&server.url("/c")).await, Err(DocumentErrorKind::Unlocked));

    let file = fs::read_dir(locked.0.join("cache")).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "{\"title\":\"other\"}").unwrap();
    let damaged = offline(&a).await;
    assert!(matches!(damaged, Err(DocumentErrorKind::Changed { .. })), "{damaged:?}");
    fs::remove_file(&file).unwrap();
    assert_eq!(offline(&a).await, Err(DocumentErrorKind::Uncached));
    // A digest that is none is not a path.
    let digest = file.file_stem().unwrap().to_str().unwrap();
    locked.write(&locked.text().replace(digest, "../../etc/passwd"));
    assert_eq!(offline(&a).await, Err(DocumentErrorKind::Uncached));
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_lock_file_is_checked_at_the_start() {
    let folder = Folder::new();
    let (lock, cache) = (folder.join("schemas.lock"), folder.join(""));
    let open = |lock: &str, cache: &str| Fetcher::new(Policy::default().lock(lock).cache(cache));
    assert!(open(&lock, &cache).is_ok());
    assert!(!fs::exists(&lock).unwrap());
    for wrong in ["", "{", "{\"version\":2,\"documents\":{}}", "{\"version\":1,\"documents\":[]}"] {
        folder.write("schemas.lock", wrong);
        assert!(matches!(open(&lock, &cache), Err(LockError::Content { .. })), "{wrong}");
    }
    let large = folder.write("large.lock", " ".repeat((4 << 20) + 1));
    let (outside, file) = (folder.join("none/schemas.lock"), folder.write("file", ""));
    let new = folder.join("new.lock");
    let mut wrong = vec![(&*large, &*cache), (&outside, &cache), (&new, &file)];
    if cfg!(unix) {
        wrong.push(("/dev/zero", &cache));
    }
    for (lock, cache) in wrong {
        assert!(matches!(open(lock, cache), Err(LockError::File { .. })), "{lock}, {cache}");
    }
    let offline = Fetcher::new(Policy::default().offline(true));
    assert!(matches!(offline, Err(LockError::NoLock)));
}

#[tokio::test]
async fn what_is_locked_is_taken_from_the_cache_when_its_server_is_down() {
    let (up, locked) = (start([("/a", json("{\"title\":\"a\"}"))]), Locked::new());
    let down = format!("http://{}/", address::reserved());
    let before = run(locked.policy(&up.url("/")), &up.url("/a")).await.unwrap();
    locked.write(&locked.text().replace(&up.url("/"), &down));
    let run = async || run(locked.policy(&down), &format!("{down}a")).await;
    assert_eq!(run().await.unwrap().value, before.value);
    fs::remove_dir_all(locked.0.join("cache")).unwrap();
    let error = run().await.unwrap_err();
    assert!(matches!(error, DocumentErrorKind::Connection { .. }), "{error}");
}

#[tokio::test]
async fn nothing_is_added_to_a_lock_that_is_final() {
    let server = start([("/a", json("{}")), ("/b", json("{}"))]);
    let locked = Locked::new();
    let policy = |is_final| locked.policy(&server.url("/")).locked(is_final);
    assert!(matches!(Fetcher::new(policy(true)), Err(LockError::File { .. })));
    run(policy(false), &server.url("/a")).await.unwrap();
    let text = locked.text();
    run(policy(true), &server.url("/a")).await.unwrap();
    let new = run(policy(true), &server.url("/b")).await;
    assert_eq!(new, Err(DocumentErrorKind::Unlocked));
    assert_eq!(locked.text(), text);
}

#[tokio::test]
async fn a_redirect_that_leads_elsewhere_is_a_change() {
    let server = start([("/a", redirect("/v1")), ("/v1", json("{}"))]);
    let locked = Locked::new();
    let run = async || run(locked.policy(&server.url("/")), &server.url("/a")).await;
    run().await.unwrap();
    locked.write(&locked.text().replace("/v1", "/v0"));
    let (before, found) = (server.url("/v0"), server.url("/v1"));
    assert_eq!(run().await, Err(DocumentErrorKind::Moved { locked: before, found }));
}

#[tokio::test]
async fn several_fetchers_share_a_lock_file() {
    let server = start([("/a", json("{}")), ("/b", json("{}"))]);
    let (locked, paths) = (Locked::new(), ["/a", "/b"].map(|path| server.url(path)));
    let fetchers = [(); 2].map(|()| Fetcher::new(locked.policy(&server.url("/"))).unwrap());
    for (fetcher, path) in fetchers.iter().zip(&paths) {
        documents(fetcher, &referring_to(path)).await.unwrap();
    }
    for fetcher in &fetchers {
        fetcher.save_lock().unwrap();
    }
    let text = locked.text();
    assert!(paths.iter().all(|path| text.contains(path)), "{text}");
}
