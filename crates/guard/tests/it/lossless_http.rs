//! What does not have to change leaves byte for byte, on HTTP: as JSON and as events.

use std::sync::Arc;

use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use toolbond_guard::Event;

use crate::http::{Http, events, json};
use crate::lossless::{FROM_CLIENT, FROM_SERVER, SETTINGS, leaves, play_tools, settings};

/// A guard with these settings that says nothing.
fn http(name: &str, revision: &str) -> Http {
    let mut settings = settings(name);
    // The server answers nothing that it was not told to.
    settings.translate.eras = false;
    let quiet = Arc::new(|event: Event| panic!("{event}"));
    let mut http = Http::new(settings, quiet, "");
    // The response to a request of HTTP/1.0 is not chunked.
    http.client.head = format!(
        "POST /mcp HTTP/1.0\r\nmcp-session-id: s\r\nmcp-protocol-version: {revision}\r\naccept-encoding: gzip, br"
    );
    http
}

impl Http {
    /// The client posts `question`, and gets `answer` as the server wrote it.
    fn passes(&mut self, question: &str, answer: &str) {
        let length = format!("content-length: {}\r\n", answer.len());
        let (_, _, got) = self.exchange(question, &json(answer.as_bytes(), &length));
        assert_eq!(got, answer, "{question}");
    }

    /// The same with these messages as events, each written in another of the ways there are, in chunks of `size` bytes.
    fn streams(&mut self, question: &str, messages: &[String], size: usize) {
        let forms = [
            "data: MESSAGE\n\n",
            ": a comment\r\nevent: message\r\nid: 7\r\ndata:MESSAGE\r\n\r\n",
            "retry: 10\n\nid\ndata: MESSAGE\nx-unknown: é\n\n",
            "data: MESSAGE\n\ndata\n\n",
        ];
        let all = messages.iter().zip(forms.iter().cycle());
        let all: String = all.map(|(message, form)| form.replace("MESSAGE", message)).collect();
        let mut chunks = Vec::new();
        for piece in all.as_bytes().chunks(size).chain([&b""[..]]) {
            let start = format!("{:x}\r\n", piece.len());
            chunks.extend([start.as_bytes(), piece, b"\r\n"].concat());
        }
        let head = String::from_utf8(events(b"")).unwrap();
        let head = head.replacen("\r\n", "\r\ntransfer-encoding: chunked\r\n", 1);
        let (_, _, got) = self.exchange(question, &[head.as_bytes(), &chunks].concat());
        assert_eq!(got, all, "{question}");
    }
}

/// Whether this message leaves as it came: an answer on the stream of a request gets the id of that.
fn leaves_on_http(name: &str, text: &str) -> bool {
    leaves(name, text) && !text.contains("nobody asked")
}

#[test]
fn every_kind_of_message_passes_both_ways() {
    for name in SETTINGS {
        let messages =
            FROM_SERVER.iter().filter(|text| !text.is_empty() && leaves_on_http(name, text));
        let messages: Vec<_> = messages.map(|text| (*text).to_owned()).collect();
        let mut http = http(name, "2025-11-25");
        for (n, question) in FROM_CLIENT.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let question = question.replace("ID", &n.to_string());
            http.passes(&question, &messages[n % messages.len()]);
            http.streams(&question, &messages, 1 + n * 13);
        }
    }
}

#[test]
fn tools_and_calls_that_keep_the_contract_pass() {
    let pass = |http: &mut Http, question: &str, answer: &str| {
        http.passes(question, answer);
        http.streams(question, &[FROM_SERVER[4].to_owned(), answer.to_owned()], 7);
    };
    play_tools(http, pass);
}

#[test]
fn generated_streams_pass() {
    let messages = proptest::collection::vec(select(FROM_SERVER), 0..12);
    let script = (select(&SETTINGS[..]), select(FROM_CLIENT), messages, 1..200_usize);
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    let run = runner.run(&script, |(name, question, messages, size)| {
        let messages = messages.into_iter().filter(|text| leaves_on_http(name, text));
        let messages: Vec<_> = messages.map(str::to_owned).collect();
        if !question.is_empty() {
            http(name, "2026-07-28").streams(&question.replace("ID", "\"q\""), &messages, size);
        }
        Ok(())
    });
    run.unwrap();
}
