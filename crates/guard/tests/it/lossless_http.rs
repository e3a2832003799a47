//! What does not have to change leaves byte for byte, on HTTP: as JSON and as events.

use std::sync::Arc;
use std::time::Duration;

use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use toolbond_guard::http::{Client, Hosts};
use toolbond_guard::{
    Backend, Event, GuardedServer, Listener, MemoryLimit, Proxy, Router, Routes, Settings,
};

use crate::lossless::{CALLS, FROM_CLIENT, FROM_SERVER, RESULTS, TOOLS, runtime, settings};

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(120);

/// A guard and the server behind it, which the test plays.
pub(crate) struct Http {
    guard: u16,
    pub(crate) server: TcpListener,
    revision: &'static str,
}

impl Http {
    async fn new(settings: Settings, revision: &'static str) -> Self {
        let quiet = Arc::new(|event: Event| panic!("{event}"));
        Self::heard_by(quiet, settings, revision).await
    }

    pub(crate) async fn heard_by(
        listener: Arc<dyn Listener>,
        mut settings: Settings,
        revision: &'static str,
    ) -> Self {
        // The server of these tests answers nothing that it was not told to. Eras have tests of their own.
        settings.bridge_eras = false;
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", server.local_addr().unwrap().port());
        let guarded = Arc::new(GuardedServer::new("server", settings, listener));
        let memory = Arc::new(MemoryLimit::default());
        let proxy = Proxy::new(&url, Client::new(None).unwrap(), guarded, memory).unwrap();
        let router = Router::new(Routes::one(Backend::Proxy(Arc::new(proxy)), Hosts::new([])));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let guard = listener.local_addr().unwrap().port();
        tokio::spawn(Arc::new(router).serve(listener, Box::pin(std::future::pending())));
        Self { guard, server, revision }
    }

    /// The client posts `question`, the server gets it as it is and answers, and the client gets
    /// that as it is. Events are sent in pieces of `size` bytes, JSON in one.
    async fn passes(&self, question: &str, answer: &str, size: Option<usize>) {
        let kind = if size.is_some() { "text/event-stream" } else { "application/json" };
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n");
        let mut out = head.into_bytes();
        match size {
            None => out.extend(format!("content-length: {}\r\n\r\n{answer}", answer.len()).bytes()),
            Some(size) => {
                out.extend(b"transfer-encoding: chunked\r\n\r\n");
                for piece in answer.as_bytes().chunks(size) {
                    out.extend(format!("{:x}\r\n", piece.len()).bytes());
                    out.extend(piece);
                    out.extend(b"\r\n");
                }
                out.extend(b"0\r\n\r\n");
            }
        }
        let (_, got) = self.exchange(question, &out).await;
        assert_eq!(body(&got), answer, "{question}");
    }

    /// The client posts `question`, the server gets it as it is and writes `out`: the head that the
    /// server got, and what the client got.
    pub(crate) async fn exchange(&self, question: &str, out: &[u8]) -> (String, Vec<u8>) {
        let (head, client, mut server) = self.ask("POST /mcp", question).await;
        server.write_all(out).await.unwrap();
        drop(server);
        (head, rest(client).await)
    }

    /// The client asks for `target` with `question`, which the server gets as it is: the head that the
    /// server got, and the connections of the client and of the server.
    pub(crate) async fn ask(&self, target: &str, question: &str) -> (String, TcpStream, TcpStream) {
        let mut client = TcpStream::connect(("127.0.0.1", self.guard)).await.unwrap();
        let (length, revision) = (question.len(), self.revision);
        let head = format!(
            "{target} HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: s\r\nmcp-protocol-version: {revision}\r\n\
             content-length: {length}\r\naccept-encoding: gzip, br\r\nconnection: close\r\n\r\n"
        );
        client.write_all(format!("{head}{question}").as_bytes()).await.unwrap();
        let (mut server, _) = timeout(HANG, self.server.accept()).await.unwrap().unwrap();
        let mut seen = Vec::new();
        while !seen.ends_with(question.as_bytes()) || !contains(&seen, b"\r\n\r\n") {
            assert!(timeout(HANG, server.read_buf(&mut seen)).await.unwrap().unwrap() > 0);
        }
        let start = seen.len() - length;
        assert!(seen[..start].ends_with(b"\r\n\r\n"), "{}", String::from_utf8_lossy(&seen));
        (String::from_utf8(seen[..start].to_vec()).unwrap(), client, server)
    }
}

/// What a client gets until the connection is closed.
pub(crate) async fn rest(mut client: TcpStream) -> Vec<u8> {
    let mut got = Vec::new();
    timeout(HANG, client.read_to_end(&mut got)).await.unwrap().unwrap();
    got
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The body of an answer, taken out of its chunks.
fn body(answer: &[u8]) -> String {
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&answer[..at]).unwrap().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let mut rest = &answer[at + 4..];
    if !head.contains("transfer-encoding: chunked") {
        return String::from_utf8(rest.to_vec()).unwrap();
    }
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").expect("another chunk");
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return String::from_utf8(body).unwrap();
        }
        body.extend(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
}

/// Events with these messages, each written in another of the ways there are.
fn events(messages: &[String]) -> String {
    let forms = [
        "data: MESSAGE\n\n",
        ": a comment\r\nevent: message\r\nid: 7\r\ndata:MESSAGE\r\n\r\n",
        "retry: 10\n\nid\ndata: MESSAGE\nx-unknown: é\n\n",
        "data: MESSAGE\r\rdata\n\n",
    ];
    let events = messages.iter().enumerate();
    events.map(|(n, message)| forms[n % forms.len()].replace("MESSAGE", message)).collect()
}

/// Whether a message of a server leaves as it is: a result that nobody asked for does where nothing
/// is looked at.
fn leaves(settings: &str, message: &str) -> bool {
    !message.is_empty()
        && (settings == "off" || !message.contains(r#""id":"nobody asked","result""#))
}

const SETTINGS: [&str; 3] = ["off", "default", "strict"];

#[test]
fn every_kind_of_message_passes_both_ways() {
    for name in SETTINGS {
        let messages = FROM_SERVER.iter().filter(|text| leaves(name, text));
        let messages: Vec<_> = messages.map(|text| (*text).to_owned()).collect();
        let all = events(&messages);
        runtime().block_on(async {
            let http = Http::new(settings(name), "2025-11-25").await;
            for (n, question) in FROM_CLIENT.iter().enumerate().filter(|(_, text)| !text.is_empty())
            {
                let question = question.replace("ID", &n.to_string());
                http.passes(&question, &messages[n % messages.len()], None).await;
                http.passes(&question, &all, Some(1 + n * 13)).await;
            }
        });
    }
}

#[test]
fn tools_and_calls_that_keep_the_contract_pass() {
    for name in SETTINGS {
        for revision in ["2025-06-18", "2026-07-28"] {
            runtime().block_on(async {
                let http = Http::new(settings(name), revision).await;
                let list = format!(r#"{{"id":0,"result":{{ "tools":{TOOLS},"ttlMs":5}},"x":0}}"#);
                let ask = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#;
                http.passes(ask, &list, None).await;
                http.passes(ask, &events(&[list]), Some(100)).await;
                for (n, call) in CALLS.iter().enumerate() {
                    for (m, result) in RESULTS.iter().enumerate() {
                        let id = format!("\"{n} {m}\"");
                        let (call, result) = (call.replace("ID", &id), result.replace("ID", &id));
                        http.passes(&call, &result, None).await;
                        let progress = FROM_SERVER[4].to_owned();
                        http.passes(&call, &events(&[progress, result]), Some(7)).await;
                    }
                }
            });
        }
    }
}

#[test]
fn generated_streams_pass() {
    let messages = proptest::collection::vec(select(FROM_SERVER), 0..12);
    let script = (select(&SETTINGS[..]), select(FROM_CLIENT), messages, 1..200_usize);
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    runner
        .run(&script, |(name, question, messages, size)| {
            let messages =
                messages.into_iter().filter(|text| text.is_empty() || leaves(name, text));
            let messages: Vec<_> = messages.map(str::to_owned).collect();
            let question = question.replace("ID", "\"q\"");
            if !question.is_empty() {
                runtime().block_on(async {
                    let http = Http::new(settings(name), "2026-07-28").await;
                    http.passes(&question, &events(&messages), Some(size)).await;
                });
            }
            Ok(())
        })
        .unwrap();
}
