//! The lock file and the cache.

use std::fs;

use toolbond_fetch::{DocumentErrorKind, Fetcher, LockError, Policy};

use crate::server::{Server, json, redirect};
use crate::{allowing, folder, kind, referring_to};

async fn run(policy: Policy, uri: &str) -> Result<(String, serde_json::Value), DocumentErrorKind> {
    let fetcher = Fetcher::new(policy).unwrap();
    let documents = fetcher.documents(&referring_to(uri), None).await;
    fetcher.save_lock().unwrap();
    match documents {
        Ok(mut documents) => {
            let document = documents.remove(0);
            Ok((document.base, (*document.value).clone()))
        }
        Err(error) => Err(kind::<()>(Err(error))),
    }
}

#[tokio::test]
async fn a_changed_document_is_refused_until_it_is_removed_from_the_lock() {
    let folder = folder("lock");
    let lock = folder.join("schemas.lock");
    let server = Server::start([("/a", json("{}")), ("/b", json("{}"))]).await;
    let policy = || allowing(&[&server.url("/")]).lock(&lock).cache(folder.join("cache"));
    run(policy(), &server.url("/a")).await.unwrap();
    let text = fs::read_to_string(&lock).unwrap();
    let found = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert!(text.contains(&server.url("/a")) && text.contains(found), "{text}");
    run(policy(), &server.url("/a")).await.unwrap();
    assert_eq!(fs::read_to_string(&lock).unwrap(), text);

    let locked = "0".repeat(64);
    let other = text.replace(found, &locked);
    fs::write(&lock, &other).unwrap();
    let changed = run(policy(), &server.url("/a")).await;
    let found = found.to_owned();
    assert_eq!(changed, Err(DocumentErrorKind::Changed { locked, found }));
    assert_eq!(fs::read_to_string(&lock).unwrap(), other);
    // Others are added as before.
    run(policy(), &server.url("/b")).await.unwrap();
    fs::write(&lock, "{\"version\":1,\"documents\":{}}").unwrap();
    run(policy(), &server.url("/a")).await.unwrap();
    assert_eq!(fs::read_to_string(&lock).unwrap(), text);
}

#[tokio::test]
async fn a_run_without_network_takes_documents_from_the_cache() {
    let folder = folder("offline");
    let (lock, cache) = (folder.join("schemas.lock"), folder.join("cache"));
    let server = Server::start([("/a", redirect("/b")), ("/b", json("{\"title\":\"b\"}"))]).await;
    let policy = || allowing(&[&server.url("/")]).lock(&lock).cache(&cache);
    let online = run(policy(), &server.url("/a")).await.unwrap();
    assert_eq!(server.connections(), 2);
    let offline = || policy().offline(true);
    assert_eq!(run(offline(), &server.url("/a")).await.unwrap(), online);
    let unknown = run(offline(), &server.url("/c")).await;
    assert_eq!(unknown, Err(DocumentErrorKind::Unlocked));

    let file = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "{\"title\":\"other\"}").unwrap();
    let damaged = run(offline(), &server.url("/a")).await;
    assert!(matches!(damaged, Err(DocumentErrorKind::Changed { .. })), "{damaged:?}");
    fs::remove_file(&file).unwrap();
    let absent = run(offline(), &server.url("/a")).await;
    assert_eq!(absent, Err(DocumentErrorKind::Uncached));
    // A digest that is none is not a path.
    let text = fs::read_to_string(&lock).unwrap();
    let digest = file.file_stem().unwrap().to_str().unwrap();
    fs::write(&lock, text.replace(digest, "../../etc/passwd")).unwrap();
    let absent = run(offline(), &server.url("/a")).await;
    assert_eq!(absent, Err(DocumentErrorKind::Uncached));
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_lock_file_is_checked_at_the_start() {
    let folder = folder("wrong-lock");
    let lock = folder.join("schemas.lock");
    let open = || Fetcher::new(Policy::default().lock(&lock).cache(&folder));
    assert!(open().is_ok());
    assert!(!lock.exists());
    for wrong in ["", "{", "{\"version\":2,\"documents\":{}}", "{\"version\":1,\"documents\":[]}"] {
        fs::write(&lock, wrong).unwrap();
        assert!(matches!(open(), Err(LockError::Content { .. })), "{wrong}");
    }
    fs::write(&lock, " ".repeat((4 << 20) + 1)).unwrap();
    assert!(matches!(open(), Err(LockError::File { .. })));
    let offline = Fetcher::new(Policy::default().offline(true));
    assert!(matches!(offline, Err(LockError::NoLock)));
}

#[tokio::test]
async fn what_is_locked_is_taken_from_the_cache_when_its_server_is_down() {
    let folder = folder("down");
    let policy = |server: &str| {
        allowing(&[server]).lock(folder.join("schemas.lock")).cache(folder.join("cache"))
    };
    let server = Server::start([("/a", json("{\"title\":\"a\"}"))]).await;
    let (at, uri) = (server.url("/"), server.url("/a"));
    let before = run(policy(&at), &uri).await.unwrap();
    server.stop().await;
    assert_eq!(run(policy(&at), &uri).await.unwrap(), before);
    fs::remove_dir_all(folder.join("cache")).unwrap();
    let down = run(policy(&at), &uri).await.unwrap_err();
    assert!(matches!(down, DocumentErrorKind::Connection { .. }), "{down}");
}

#[tokio::test]
async fn nothing_is_added_to_a_lock_that_is_final() {
    let folder = folder("final");
    let lock = folder.join("schemas.lock");
    let server = Server::start([("/a", json("{}")), ("/b", json("{}"))]).await;
    let policy = || allowing(&[&server.url("/")]).lock(&lock).cache(folder.join("cache"));
    let absent = Fetcher::new(policy().locked(true));
    assert!(matches!(absent, Err(LockError::File { .. })));
    run(policy(), &server.url("/a")).await.unwrap();
    let text = fs::read_to_string(&lock).unwrap();
    run(policy().locked(true), &server.url("/a")).await.unwrap();
    let new = run(policy().locked(true), &server.url("/b")).await;
    assert_eq!(new, Err(DocumentErrorKind::Unlocked));
    assert_eq!(fs::read_to_string(&lock).unwrap(), text);
}

#[test]
fn a_lock_file_needs_its_folder_and_a_cache_is_one() {
    let folder = folder("no-folder");
    let policy = Policy::default().lock(folder.join("none/schemas.lock")).cache(&folder);
    assert!(matches!(Fetcher::new(policy), Err(LockError::File { .. })));
    fs::write(folder.join("file"), "").unwrap();
    let policy = Policy::default().lock(folder.join("schemas.lock")).cache(folder.join("file"));
    assert!(matches!(Fetcher::new(policy), Err(LockError::File { .. })));
}

#[tokio::test]
async fn a_redirect_that_leads_elsewhere_is_a_change() {
    let folder = folder("moved");
    let lock = folder.join("schemas.lock");
    let server = Server::start([("/a", redirect("/v1")), ("/v1", json("{}"))]).await;
    let policy = || allowing(&[&server.url("/")]).lock(&lock).cache(folder.join("cache"));
    run(policy(), &server.url("/a")).await.unwrap();
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("/v1", "/v0")).unwrap();
    let (locked, found) = (server.url("/v0"), server.url("/v1"));
    let moved = run(policy(), &server.url("/a")).await;
    assert_eq!(moved, Err(DocumentErrorKind::Moved { locked, found }));
}

#[tokio::test]
async fn several_fetchers_share_a_lock_file() {
    let folder = folder("shared");
    let lock = folder.join("schemas.lock");
    let server = Server::start([("/a", json("{}")), ("/b", json("{}"))]).await;
    let open = || {
        let policy = allowing(&[&server.url("/")]).lock(&lock).cache(folder.join("cache"));
        Fetcher::new(policy).unwrap()
    };
    let (first, second) = (open(), open());
    first.documents(&referring_to(&server.url("/a")), None).await.unwrap();
    second.documents(&referring_to(&server.url("/b")), None).await.unwrap();
    first.save_lock().unwrap();
    second.save_lock().unwrap();
    let text = fs::read_to_string(&lock).unwrap();
    assert!(text.contains(&server.url("/a")) && text.contains(&server.url("/b")), "{text}");
}

#[cfg(unix)]
#[test]
fn a_lock_file_is_a_file() {
    let folder = folder("device");
    let policy = Policy::default().lock("/dev/zero").cache(&folder);
    assert!(matches!(Fetcher::new(policy), Err(LockError::File { .. })));
}
