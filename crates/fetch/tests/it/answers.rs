//! Answers that are not a JSON document, or not yet, or never.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use toolbond_fetch::{DocumentErrorKind, Limits, Policy};

use crate::server::{Reply, Server, json, response, typed};
use crate::{allowing, fetch, refusal};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn encoded(encoding: &str, body: &[u8]) -> Reply {
    Reply::Bytes(response("200 OK", &[("content-encoding", encoding)], body))
}

/// A policy for small documents, which may take as long as they do on a busy machine.
fn tight(server: &Server) -> Policy {
    within(server, Duration::from_secs(60))
}

fn within(server: &Server, time: Duration) -> Policy {
    let mut limits = Limits::default();
    limits.document_bytes = 64 << 10;
    limits.document_time = time;
    limits.total_time = 2 * time;
    allowing(&[&server.url("/")]).limits(limits)
}

#[tokio::test]
async fn documents_come_in_many_ways() {
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    let server = Server::start([
        ("/json", json("{}")),
        ("/schema", typed("application/schema+json; charset=\"UTF-8\"", b"{}")),
        ("/text", typed("text/plain; charset=utf-8", b"{}")),
        ("/mark", typed("application/json", "\u{feff}{}".as_bytes())),
        ("/none", Reply::Bytes(b"HTTP/1.1 200 OK\r\n\r\n{}".to_vec())),
        ("/chunked", Reply::Bytes(chunked.into())),
        ("/gzip", encoded("gzip", &gzip(b"{}"))),
        ("/identity", encoded("identity", b"{}")),
        ("/more", Reply::Bytes(response("200 OK", &[("content-length", "2")], b"{}garbage"))),
    ])
    .await;
    for path in ["json", "schema", "text", "mark", "none", "chunked", "gzip", "identity", "more"] {
        let documents = fetch(tight(&server), &server.url(&format!("/{path}"))).await;
        assert_eq!(*documents.unwrap()[0].value, serde_json::json!({}), "{path}");
    }
}

#[tokio::test]
async fn what_is_no_document_is_refused() {
    let deep = format!("{}{}", "[".repeat(100_000 / 4), "]".repeat(100_000 / 4));
    let cases = [
        ("/html", typed("text/html", b"<html>"), "is a web page (`text/html`), expected JSON"),
        ("/page", typed("Text/HTML; charset=utf-8", b"{}"), "is a web page"),
        ("/utf16", typed("application/json; charset=utf-16", b"{}"), "charset `utf-16`"),
        ("/latin", typed("application/json;Charset = 'latin1'", b"{}"), "charset `latin1`"),
        ("/bytes", typed("application/json", b"\"\xff\""), "is not JSON: invalid UTF-8 at byte 1"),
        ("/wide", typed("application/json", b"\xff\xfe{\0}\0"), "is not JSON: invalid UTF-8"),
        ("/empty", json(""), "is not JSON"),
        ("/markup", typed("text/plain", b"<html>"), "is not JSON"),
        ("/half", json("{\"a\":"), "is not JSON"),
        ("/two", json("{} {}"), "is not JSON"),
        ("/twice", json("{\"type\":\"string\",\"type\":\"object\"}"), "is not JSON"),
        ("/large", json("{\"maximum\":18446744073709551616}"), "has more than 64 bits"),
        ("/deep", json(&deep), "is not JSON"),
        ("/br", encoded("br", b"{}"), "has the content encoding `br`"),
        ("/double", encoded("gzip, gzip", &gzip(&gzip(b"{}"))), "content encoding `gzip, gzip`"),
        ("/damaged", encoded("gzip", b"{}"), "cannot be decompressed"),
        ("/cut", encoded("gzip", &gzip(b"{\"a\": 1}")[..20]), "cannot be decompressed"),
        ("/gone", Reply::Bytes(response("410 Gone", &[], b"{}")), "returned status 410"),
        ("/part", Reply::Bytes(response("206 Partial Content", &[], b"{}")), "status 206"),
        ("/empty-204", Reply::Bytes(response("204 No Content", &[], b"")), "status 204"),
        (
            "/short",
            Reply::Bytes(response("200 OK", &[("content-length", "9")], b"{}")),
            "to its end",
        ),
        ("/length", Reply::Bytes(response("200 OK", &[("content-length", "x")], b"{}")), "reached"),
        ("/not-http", Reply::Bytes(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), "could not be reached"),
        ("/silent", Reply::Bytes(Vec::new()), "could not be reached"),
    ];
    for (path, reply, reason) in cases {
        let server = Server::start([(path, reply)]).await;
        let kind = refusal(tight(&server), &server.url(path)).await;
        assert!(kind.to_string().contains(reason), "{path}: {kind}");
        assert_eq!(server.connections(), 1, "{path}");
    }
}

#[tokio::test]
async fn slow_answers_end_at_their_time() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n".to_vec();
    let slow = [b"HTTP/1.1 200 OK\r\nx: ".to_vec(), vec![b'a'; 10_000]].concat();
    let cases = [
        ("/hang", Reply::Stuck(Vec::new())),
        ("/head", Reply::Dripping(slow)),
        ("/body", Reply::Stuck(head.clone())),
        ("/drip", Reply::Dripping([head, vec![b' '; 2000]].concat())),
        ("/interim", Reply::Endless(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())),
    ];
    for (path, reply) in cases {
        let server = Server::start([(path, reply)]).await;
        // None of them is ever complete, however slow the machine is.
        let limit = Duration::from_millis(300);
        let kind = refusal(within(&server, limit), &server.url(path)).await;
        assert_eq!(kind, DocumentErrorKind::DocumentTime { limit }, "{path}");
    }
}

#[tokio::test]
async fn endless_answers_end_at_their_size() {
    let head = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes();
    let bomb = gzip(&vec![b' '; 50 << 20]);
    assert!(bomb.len() < 64 << 10);
    let cases = [
        ("/plain", Reply::Endless(head(""), vec![b' '; 4096])),
        (
            "/chunked",
            Reply::Endless(
                head("transfer-encoding: chunked\r\n"),
                [b"1000\r\n".to_vec(), vec![b' '; 4096], b"\r\n".to_vec()].concat(),
            ),
        ),
        ("/length", Reply::Endless(head("content-length: 9999999999\r\n"), vec![b' '; 4096])),
        ("/bomb", encoded("gzip", &bomb)),
        ("/gzip", Reply::Endless(head("content-encoding: gzip\r\n"), vec![0; 4096])),
    ];
    for (path, reply) in cases {
        let server = Server::start([(path, reply)]).await;
        let kind = refusal(tight(&server), &server.url(path)).await;
        assert_eq!(kind, DocumentErrorKind::DocumentBytes { limit: 64 << 10 }, "{path}");
    }
    let server =
        Server::start([("/head", Reply::Endless(head("")[..17].to_vec(), vec![b'a'; 4096]))]).await;
    let kind = refusal(tight(&server), &server.url("/head")).await;
    assert!(matches!(kind, DocumentErrorKind::Connection { .. }), "{kind}");
}
