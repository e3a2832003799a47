//! Redirects inside and out of what is allowed.

use std::sync::{Arc, Mutex};

use toolbond_fetch::{DocumentErrorKind, Fetcher};

use crate::server::{json, redirect, response, start};
use crate::{allowing, at, documents, fetch, limited, referring_to, refusal};

#[tokio::test]
async fn a_redirect_inside_is_followed_and_its_end_is_the_base() {
    let server = start([
        ("/old.json", redirect("/new/")),
        ("/new/", redirect("new.json#ignored")),
        ("/new/new.json", json("{\"type\":\"string\"}")),
    ]);
    let documents = fetch(at(&server), &server.url("/old.json")).await.unwrap();
    assert_eq!(documents[0].uri, server.url("/old.json"));
    assert_eq!(documents[0].base, server.url("/new/new.json"));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_redirect_out_of_the_allowed_is_refused_before_it_connects() {
    let outside = start([("/secret.json", json("{}"))]);
    let port = outside.port;
    let targets = [
        (outside.url("/secret.json"), "is not allowed"),
        (format!("http://localhost:{port}/secret.json"), "is not allowed"),
        (format!("http://127.0.0.2:{port}/secret.json"), "is not allowed"),
        (format!("https://127.0.0.1:{port}/secret.json"), "is not allowed"),
        (format!("//127.0.0.1:{port}/secret.json"), "is not allowed"),
        (format!("http://2130706433:{port}/secret.json"), "is not allowed"),
        (format!("http://user@127.0.0.1:{port}/secret.json"), "contains a user name"),
        // No server decides which file is read, not even of those that may be.
        ("file:///tmp/a.json".to_owned(), "redirects to file:///tmp/a.json, which is not allowed"),
        ("file:///etc/hostname".to_owned(), "is not allowed"),
        ("data:application/json,true".to_owned(), "has the scheme `data`"),
        ("ftp://127.0.0.1/a".to_owned(), "has the scheme `ftp`"),
        ("/allowed/../secret.json".to_owned(), "is not allowed"),
        ("/allowed/%2e%2e/secret.json".to_owned(), "is not allowed"),
    ];
    for (to, reason) in targets {
        let server = start([("/allowed/a.json", redirect(&to)), ("/secret.json", json("{}"))]);
        let policy = allowing(&[&server.url("/allowed/"), "file:///tmp/"]);
        let kind = refusal(policy, &server.url("/allowed/a.json")).await;
        assert!(matches!(kind, DocumentErrorKind::Redirected { .. }), "{to}: {kind}");
        assert!(kind.to_string().contains(reason), "{to}: {kind}");
        assert_eq!((server.connections(), outside.connections()), (1, 0), "{to}");
    }
}

#[tokio::test]
async fn loops_and_chains_end() {
    let server = start([
        ("/self", redirect("/self")),
        ("/ping", redirect("/pong")),
        ("/pong", redirect("/ping")),
        ("/1", redirect("/2")),
        ("/2", redirect("/3")),
        ("/3", redirect("/4")),
        ("/4", json("{}")),
    ]);
    let policy = || limited(&server, |limits| limits.redirects = 2);
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
    let none = DocumentErrorKind::Location { status: 302 };
    let status = |status| DocumentErrorKind::Status { status };
    let cases = [
        (response("302 Found", "", ""), none.clone()),
        (response("302 Found", "location: /a\r\nlocation: /b", ""), none.clone()),
        (redirect("/a b\\c"), none),
        (response("300 Multiple Choices", "location: /a", ""), status(300)),
        (response("304 Not Modified", "", ""), status(304)),
    ];
    for (answer, kind) in cases {
        let server = start([("/", answer)]);
        assert_eq!(refusal(at(&server), &server.url("/")).await, kind);
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn every_request_has_a_line_in_the_log() {
    let server = start([("/a", redirect("/b")), ("/b", json("{}"))]);
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let fetcher = Fetcher::observed(at(&server), move |attempt| {
        log.lock().unwrap().push(attempt.to_string());
    });
    let fetcher = fetcher.unwrap();
    documents(&fetcher, &referring_to(&server.url("/a"))).await.unwrap();
    documents(&fetcher, &referring_to(&server.url("/c"))).await.unwrap_err();
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
