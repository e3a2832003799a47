//! Redirects inside and out of what is allowed.

use toolbond_fetch::{DocumentErrorKind, Limits};

use crate::server::{Reply, Server, json, redirect, response};
use crate::{allowing, fetch, logged, referring_to, refusal};

#[tokio::test]
async fn a_redirect_inside_is_followed_and_its_end_is_the_base() {
    let server = Server::start([
        ("/old.json", redirect("/new/")),
        ("/new/", redirect("new.json#ignored")),
        ("/new/new.json", json("{\"type\":\"string\"}")),
    ])
    .await;
    let policy = allowing(&[&server.url("/")]);
    let documents = fetch(policy, &server.url("/old.json")).await.unwrap();
    assert_eq!(documents[0].uri, server.url("/old.json"));
    assert_eq!(documents[0].base, server.url("/new/new.json"));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_redirect_out_of_the_allowed_is_refused_before_it_connects() {
    let outside = Server::start([("/secret.json", json("{}"))]).await;
    let port = outside.address.port();
    let targets = [
        (outside.url("/secret.json"), "is not allowed"),
        (format!("http://localhost:{port}/secret.json"), "is not allowed"),
        (format!("http://127.0.0.2:{port}/secret.json"), "is not allowed"),
        (format!("https://127.0.0.1:{port}/secret.json"), "is not allowed"),
        (format!("//127.0.0.1:{port}/secret.json"), "is not allowed"),
        (format!("http://2130706433:{port}/secret.json"), "is not allowed"),
        (format!("http://user@127.0.0.1:{port}/secret.json"), "contains a user name"),
        ("file:///etc/hostname".to_owned(), "is not allowed"),
        ("data:application/json,true".to_owned(), "has the scheme `data`"),
        ("ftp://127.0.0.1/a".to_owned(), "has the scheme `ftp`"),
        ("/allowed/../secret.json".to_owned(), "is not allowed"),
        ("/allowed/%2e%2e/secret.json".to_owned(), "is not allowed"),
    ];
    for (to, reason) in targets {
        let server =
            Server::start([("/allowed/a.json", redirect(&to)), ("/secret.json", json("{}"))]);
        let server = server.await;
        let policy = allowing(&[&server.url("/allowed/")]);
        let kind = refusal(policy, &server.url("/allowed/a.json")).await;
        assert!(matches!(kind, DocumentErrorKind::Redirected { .. }), "{to}: {kind}");
        assert!(kind.to_string().contains(reason), "{to}: {kind}");
        assert_eq!((server.connections(), outside.connections()), (1, 0), "{to}");
    }
}

#[tokio::test]
async fn no_server_decides_which_file_is_read() {
    let folder = std::env::temp_dir();
    let server = Server::start([("/a.json", redirect("file:///tmp/a.json"))]).await;
    let files = format!("file://{}/", folder.display());
    let policy = allowing(&[&server.url("/"), &files, "file:///tmp/"]);
    let kind = refusal(policy, &server.url("/a.json")).await;
    assert_eq!(kind.to_string(), "redirects to file:///tmp/a.json, which is not allowed");
}

#[tokio::test]
async fn loops_and_chains_end() {
    let server = Server::start([
        ("/self", redirect("/self")),
        ("/ping", redirect("/pong")),
        ("/pong", redirect("/ping")),
        ("/1", redirect("/2")),
        ("/2", redirect("/3")),
        ("/3", redirect("/4")),
        ("/4", json("{}")),
    ])
    .await;
    let policy = || {
        let mut limits = Limits::default();
        limits.redirects = 2;
        allowing(&[&server.url("/")]).limits(limits)
    };
    for path in ["/self", "/ping"] {
        assert_eq!(refusal(policy(), &server.url(path)).await, DocumentErrorKind::RedirectLoop);
    }
    assert_eq!(server.connections(), 3);
    let kind = refusal(policy(), &server.url("/1")).await;
    assert_eq!(kind, DocumentErrorKind::Redirects { limit: 2 });
    assert_eq!(server.connections(), 6);
    assert!(fetch(policy(), &server.url("/2")).await.is_ok());
}

#[tokio::test]
async fn a_redirect_names_one_location() {
    let two = [("location", "/a"), ("location", "/b")];
    let server = Server::start([
        ("/none", Reply::Bytes(response("302 Found", &[], b""))),
        ("/two", Reply::Bytes(response("302 Found", &two, b""))),
        ("/space", redirect("/a b\\c")),
        ("/choices", Reply::Bytes(response("300 Multiple Choices", &[("location", "/a")], b""))),
        ("/same", Reply::Bytes(response("304 Not Modified", &[], b""))),
    ])
    .await;
    let policy = || allowing(&[&server.url("/")]);
    for path in ["/none", "/two", "/space"] {
        let kind = refusal(policy(), &server.url(path)).await;
        assert_eq!(kind, DocumentErrorKind::Location { status: 302 }, "{path}");
    }
    for (path, status) in [("/choices", 300), ("/same", 304)] {
        let kind = refusal(policy(), &server.url(path)).await;
        assert_eq!(kind, DocumentErrorKind::Status { status }, "{path}");
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn every_request_has_a_line_in_the_log() {
    let server = Server::start([("/a", redirect("/b")), ("/b", json("{}"))]).await;
    let (fetcher, lines) = logged(allowing(&[&server.url("/")]));
    fetcher.documents(&referring_to(&server.url("/a")), None).await.unwrap();
    let _ = fetcher.documents(&referring_to(&server.url("/c")), None).await;
    let lines = lines.lock().unwrap();
    let digest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let starts = [
        format!("fetch {} 127.0.0.1 302 0 B - ", server.url("/a")),
        format!("fetch {} 127.0.0.1 200 2 B {digest} ", server.url("/b")),
        format!("fetch {} 127.0.0.1 404 0 B - ", server.url("/c")),
    ];
    assert_eq!(lines.len(), 3);
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(&start), "{line}");
    }
    assert!(lines[2].ends_with(" ms: it returned status 404"), "{}", lines[2]);
}
