//! Answers that are not a JSON document, or not yet, or never.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use toolbond_fetch::{DocumentErrorKind, Policy};
use toolbond_harness::http::HttpServer;

use crate::server::{Answer, endless, json, raw, response, start, stuck, typed};
use crate::{fetch, limited, refusal};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn encoded(encoding: &str, body: &[u8]) -> Answer {
    response("200 OK", &format!("content-encoding: {encoding}"), body)
}

/// A policy for small documents.
fn small(server: &HttpServer) -> Policy {
    limited(server, |limits| limits.document_bytes = 64 << 10)
}

#[tokio::test]
async fn documents_come_in_many_ways() {
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    let cases = [
        ("json", json("{}")),
        ("schema", typed("application/schema+json; charset=\"UTF-8\"", "{}")),
        ("text", typed("text/plain; charset=utf-8", "{}")),
        ("mark", json("\u{feff}{}")),
        ("no length", raw("HTTP/1.1 200 OK\r\n\r\n{}")),
        ("chunked", raw(chunked)),
        ("gzip", encoded("gzip", &gzip(b"{}"))),
        ("identity", encoded("identity", b"{}")),
        ("more", raw("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}garbage")),
    ];
    for (name, answer) in cases {
        let server = start([("/", answer)]);
        let documents = fetch(small(&server), &server.url("/")).await;
        assert_eq!(*documents.unwrap()[0].value, serde_json::json!({}), "{name}");
    }
}

#[tokio::test]
async fn what_is_no_document_is_refused() {
    let deep = format!("{}{}", "[".repeat(25_000), "]".repeat(25_000));
    let length = |text| raw(&format!("HTTP/1.1 200 OK\r\ncontent-length: {text}\r\n\r\n{{}}"));
    let cases = [
        (typed("text/html", "<html>"), "is a web page (`text/html`), expected JSON"),
        (typed("Text/HTML; charset=utf-8", "{}"), "is a web page"),
        (typed("application/json; charset=utf-16", "{}"), "charset `utf-16`"),
        (typed("application/json;Charset = 'latin1'", "{}"), "charset `latin1`"),
        (typed("application/json", b"\"\xff\""), "is not JSON: invalid UTF-8 at byte 1"),
        (typed("application/json", b"\xff\xfe{\0}\0"), "is not JSON: invalid UTF-8"),
        (json(""), "is not JSON"),
        (typed("text/plain", "<html>"), "is not JSON"),
        (json("{\"a\":"), "is not JSON"),
        (json("{} {}"), "is not JSON"),
        (json("{\"type\":\"string\",\"type\":\"object\"}"), "is not JSON"),
        (json("{\"maximum\":18446744073709551616}"), "has more than 64 bits"),
        (json(&deep), "is not JSON"),
        (encoded("br", b"{}"), "has the content encoding `br`"),
        (encoded("gzip, gzip", &gzip(&gzip(b"{}"))), "content encoding `gzip, gzip`"),
        (encoded("gzip", b"{}"), "cannot be decompressed"),
        (encoded("gzip", &gzip(b"{\"a\": 1}")[..20]), "cannot be decompressed"),
        (response("410 Gone", "", "{}"), "returned status 410"),
        (response("206 Partial Content", "", "{}"), "status 206"),
        (response("204 No Content", "", ""), "status 204"),
        (length("9"), "to its end"),
        (length("x"), "could not be reached"),
        (raw("SSH-2.0-OpenSSH\r\n\r\n"), "could not be reached"),
        (raw(""), "could not be reached"),
    ];
    for (number, (answer, reason)) in cases.into_iter().enumerate() {
        let server = start([("/", answer)]);
        let kind = refusal(small(&server), &server.url("/")).await;
        assert!(kind.to_string().contains(reason), "{number}, {reason}: {kind}");
        assert_eq!(server.connections(), 1, "{number}, {reason}");
    }
}

/// These bytes, and then spaces with a pause before each.
fn dripping(bytes: &'static str) -> Answer {
    Box::new(move |reply| {
        reply.raw(bytes.as_bytes())?;
        loop {
            thread::sleep(Duration::from_millis(20));
            reply.raw(b" ")?;
        }
    })
}

/// None of these answers is ever complete, however slow or fast the machine is.
#[tokio::test]
async fn slow_answers_end_at_their_time() {
    let limit = Duration::from_millis(300);
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n";
    let cases = [
        ("silent", stuck("")),
        ("slow head", dripping("HTTP/1.1 200 OK\r\nx: ")),
        ("no body", stuck(head)),
        ("slow body", dripping(head)),
        ("interim", endless("", "HTTP/1.1 100 Continue\r\n\r\n")),
    ];
    join_all(cases.map(|(name, answer)| async move {
        let server = start([("/", answer)]);
        let policy = limited(&server, |limits| limits.document_time = limit);
        let kind = refusal(policy, &server.url("/")).await;
        assert_eq!(kind, DocumentErrorKind::DocumentTime { limit }, "{name}");
    }))
    .await;
}

#[tokio::test]
async fn endless_answers_end_at_their_size() {
    let bomb = gzip(&vec![b' '; 50 << 20]);
    assert!(bomb.len() < 64 << 10);
    let body =
        |headers: &str, more: &str| endless(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n"), more);
    let spaces = " ".repeat(4096);
    let chunk = format!("1000\r\n{spaces}\r\n");
    let cases = [
        ("plain", body("", &spaces)),
        ("chunked", body("transfer-encoding: chunked\r\n", &chunk)),
        ("length", body("content-length: 9999999999\r\n", &spaces)),
        ("gzip", body("content-encoding: gzip\r\n", &"\0".repeat(4096))),
        ("bomb", encoded("gzip", &bomb)),
        ("head", endless("HTTP/1.1 200 OK\r\n", "a".repeat(4096))),
    ];
    for (name, answer) in cases {
        let server = start([("/", answer)]);
        let kind = refusal(small(&server), &server.url("/")).await;
        let is_as_expected = match kind {
            DocumentErrorKind::DocumentBytes { limit } => limit == 64 << 10 && name != "head",
            DocumentErrorKind::Connection { .. } => name == "head",
            _ => false,
        };
        assert!(is_as_expected, "{name}: {kind}");
    }
}
