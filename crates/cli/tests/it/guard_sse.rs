//! Servers on HTTP+SSE of 2024-11-05, which SDKs fall back to.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, ENFORCE, in_front_of_url};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask, body};
use toolbond_harness::mcp::{PING, call, initialize, post, request};
use toolbond_harness::peers;
use toolbond_harness::process::Process;

use crate::guard_peers::{Client, visit_with};

/// A server on the TypeScript SDK: the process, and its URL.
fn server() -> (Process, String) {
    let (server, port) = Process::listening(peers::command("servers/sse.mjs"));
    (server, format!("http://127.0.0.1:{port}/sse"))
}

#[test]
fn clients_of_the_typescript_sdk_are_checked_as_on_other_transports() {
    let calls = json!([
        ["double", { "n": 4 }], ["double", { "n": 500 }], ["lying", { "n": 1 }], ["seen", { "n": 0 }],
    ]);
    let (_server, url) = server();
    let direct = visit_with(Client::TypescriptV1, &calls, &[&url]);
    assert_eq!(direct["calls"][0]["structuredContent"], json!({ "n": 8 }), "{direct}");

    let (_guard, port) = in_front_of_url(&url, &ENFORCE);
    // The server has seen the calls of the first client.
    let guarded =
        visit_with(Client::TypescriptV1, &calls, &[&format!("http://127.0.0.1:{port}/sse")]);
    assert_eq!(guarded["tools"].as_array().unwrap().len(), 3, "{guarded}");
    assert_eq!(guarded["calls"][0]["structuredContent"], json!({ "n": 8 }));
    let text = |call: usize| guarded["calls"][call]["content"][0]["text"].as_str().unwrap();
    assert!(text(1).contains("expected a number ≤ 10, found 500"), "{guarded}");
    assert!(text(2).contains("was withheld"), "{guarded}");
    let seen: Value = serde_json::from_str(text(3)).unwrap();
    let [.., first, second, third] = seen.as_array().unwrap().as_slice() else { panic!("{seen}") };
    assert_eq!([&first[0], &second[0], &third[0]], ["double", "lying", "seen"], "{seen}");
}

#[test]
fn clients_of_the_python_sdk_are_checked_among_several_servers() {
    let (_server, url) = server();
    let config = format!("[contract]\narguments = 'enforce'\n[servers.old]\nurl = '{url}'\n");
    let guard = Configured::start(&config);
    let port = guard.port("/old/mcp");
    // Nobody lists the tools before the first call.
    let place = format!("http://127.0.0.1:{port}/old/mcp");
    let mut stream = Listener::open(port, "/old/mcp");
    let answer = stream.ask(&call(1, "double", &json!({ "n": "four" })));
    assert!(answer["result"]["isError"] == true, "{answer}");
    let answer = stream.ask(&call(2, "double", &json!({ "n": 4 })));
    assert_eq!(answer["result"]["structuredContent"], json!({ "n": 8 }), "{answer}");

    let mut python = peers::command("clients/python_v1.py");
    let calls = json!([["double", { "n": 3 }], ["double", { "n": 500 }]]);
    // The client goes by the end of the URL.
    let output = python.arg("legacy").arg(json!([[[format!("{place}#/sse")], calls]]).to_string());
    let output = output.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(report["calls"][0]["value"], json!({ "n": 6 }), "{report}");
    assert!(report["calls"][1]["error"].to_string().contains("≤ 10"), "{report}");
}

/// A client's stream, and where its messages go.
struct Listener {
    port: u16,
    place: String,
    stream: Connection,
}

impl Listener {
    fn open(port: u16, path: &str) -> Self {
        let head = format!("GET {path} HTTP/1.1\r\naccept: text/event-stream");
        let mut stream = Connection::open(port, &head, b"");
        stream.wait_for("event: endpoint");
        let told = stream.wait_for("data:");
        let told = told.strip_prefix("data:").unwrap().trim();
        assert!(told.starts_with(&format!("{path}?")), "{told}");
        Self { port, place: told.to_owned(), stream }
    }

    /// Posts a message, and returns the response.
    fn post(&self, message: &str) -> String {
        ask(self.port, &post(&self.place, ""), message)
    }

    /// The next message on the stream.
    fn next(&mut self) -> Value {
        let line = self.stream.wait_for("data:");
        serde_json::from_str(line.strip_prefix("data:").unwrap()).unwrap()
    }

    /// The answer to a request.
    fn ask(&mut self, message: &str) -> Value {
        let response = self.post(message);
        assert!(response.starts_with("HTTP/1.1 202"), "{response}");
        self.next()
    }
}

/// A server on HTTP+SSE that names `place` for the messages of each client, and answers with the number of the client.
fn counting(place: &'static str) -> HttpServer {
    let clients = Mutex::new(Vec::<Sender<Value>>::new());
    let serve = move |got: &Request, reply: &mut Reply<'_>| {
        if got.method() == "GET" {
            let (send, answers) = channel();
            let client = {
                let mut clients = clients.lock().unwrap();
                clients.push(send);
                clients.len() - 1
            };
            reply.events()?;
            let host = got.header("host").unwrap_or_default();
            let place = place.replace("HOST", host);
            reply.event(&format!("event: endpoint\ndata: {place}?client={client}\n\n"))?;
            for answer in answers {
                reply.event(&format!("event: message\ndata: {answer}\n\n"))?;
            }
            return Ok(());
        }
        let client: usize = got.path().rsplit_once("client=").unwrap().1.parse().unwrap();
        let message = got.message();
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let result = match message["method"].as_str().unwrap_or_default() {
            "tools/list" => {
                json!({ "tools": [{ "name": format!("tool{client}"), "inputSchema": schema }] })
            }
            "tools/call" => json!({ "content": [], "client": client }),
            _ => json!({ "client": client }),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let _ = clients.lock().unwrap()[client].send(answer);
        reply.send("202 Accepted", "content-type: text/plain", "Accepted")
    };
    HttpServer::start(serve)
}

#[test]
fn clients_with_the_same_headers_have_conversations_of_their_own() {
    for place in ["/messages", "http://HOST/messages", "messages", "?a=b&", ""] {
        let server = counting(place);
        let (_guard, port) = in_front_of_url(&server.url("/sse"), &ENFORCE);
        let mut clients = [0, 1].map(|_| Listener::open(port, "/sse"));
        for (number, client) in clients.iter().enumerate() {
            client.post(&call(7, &format!("tool{number}"), &json!({ "n": 1 })));
        }
        for (number, client) in clients.iter_mut().enumerate() {
            let answer = client.next();
            assert_eq!((&answer["id"], &answer["result"]["client"]), (&json!(7), &json!(number)));
            // The other one's tool.
            let answer = client.ask(&call(8, &format!("tool{}", 1 - number), &json!({ "n": 1 })));
            assert_eq!((&answer["id"], answer["error"].is_object()), (&json!(8), true), "{answer}");
            let answer = client.ask(&initialize("2024-11-05", &json!({})));
            assert_eq!(answer["result"]["client"], number);
        }
        // The endpoint goes with the stream.
        let [first, mut second] = clients;
        let gone = first.place.clone();
        drop(first);
        let is_gone = || ask(port, &post(&gone, ""), PING).starts_with("HTTP/1.1 404");
        toolbond_harness::wait::wait_until("the end of the endpoint", is_gone);
        assert_eq!(second.ask(PING)["result"]["client"], 1);
        let paths = server.take();
        assert!(paths.iter().all(|got| !got.path().contains("toolbond")), "{paths:?}");
    }
}

#[test]
fn a_server_that_wants_messages_elsewhere_is_reported() {
    let server = counting("http://127.0.0.1:9/messages");
    let (guard, port) = in_front_of_url(&server.url("/sse"), &ENFORCE);
    let answer = ask(port, "GET /sse HTTP/1.1\r\naccept: text/event-stream", "");
    assert!(!answer.contains("endpoint"), "{answer}");
    guard.log().wait_for("wants messages at http://127.0.0.1:9/messages, around the guard");
}

#[test]
fn no_stream_that_a_client_opens_leads_around_the_guard() {
    let server = HttpServer::start(|got, reply| {
        reply.events()?;
        let is_first = got.header("last-event-id").is_none();
        if is_first && got.header("mcp-session-id").is_none() {
            reply.event("id: 1\ndata:\n\n")?;
            reply.close();
            return Ok(());
        }
        reply.event("event: endpoint\ndata: http://127.0.0.1:9/messages\n\n")?;
        reply.hang();
        Ok(())
    });
    let (guard, port) = in_front_of_url(&server.url("/sse"), &ENFORCE);
    let listen = |header: &str| {
        ask(port, &format!("GET /sse HTTP/1.1\r\naccept: text/event-stream{header}"), "")
    };
    let answer = listen("");
    assert!(answer.contains("id: 1"), "{answer}");
    for (header, reason) in [
        ("\r\nlast-event-id: 1", "wants messages at http://127.0.0.1:9/messages"),
        ("\r\nmcp-session-id: abc", "names an endpoint on a stream of Streamable HTTP"),
    ] {
        let answer = listen(header);
        assert!(!answer.contains("127.0.0.1:9"), "{answer}");
        guard.log().wait_for(reason);
    }
}

#[test]
fn a_request_that_does_not_reach_the_server_may_be_sent_again() {
    let server = HttpServer::start(|got, reply| {
        if got.method() == "GET" {
            reply.events()?;
            reply.event("event: endpoint\ndata: /messages\n\n")?;
            reply.hang();
            return Ok(());
        }
        reply.send("429 Too Many Requests", "retry-after: 1", "later")
    });
    let (_guard, port) = in_front_of_url(&server.url("/sse"), &ENFORCE);
    let client = Listener::open(port, "/sse");
    for _ in 0..2 {
        let answer = client.post(&request(1, "resources/list"));
        assert!(
            answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 1"),
            "{answer}"
        );
    }
    let answer = client.post("no message");
    assert!(answer.starts_with("HTTP/1.1 400") && body(&answer)["error"].is_object(), "{answer}");
}

#[test]
fn a_call_is_judged_whatever_the_server_answers_where_it_was_posted() {
    let (send, answers) = channel::<Value>();
    let (send, answers) = (Mutex::new(send), Mutex::new(answers));
    let server = HttpServer::start(move |got, reply| {
        if got.method() == "GET" {
            reply.events()?;
            reply.event("event: endpoint\ndata: /messages\n\n")?;
            for answer in &*answers.lock().unwrap() {
                reply.event(&format!("data: {answer}\n\n"))?;
            }
            return Ok(());
        }
        let message = got.message();
        let answer = |id: &Value, result: Value| {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            send.lock().unwrap().send(answer.clone()).unwrap();
            answer
        };
        let schema = json!({ "type": "object", "required": ["ok"] });
        let tool =
            json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let wrong = json!({ "content": [], "structuredContent": { "wrong": 1 } });
        match (message["method"].as_str().unwrap(), message["id"].as_u64()) {
            ("tools/list", _) => drop(answer(&message["id"], json!({ "tools": [tool] }))),
            ("tools/call", Some(5)) => return reply.send("500 Internal Server Error", "", ""),
            ("tools/call", _) => return reply.json(&answer(&message["id"], wrong)),
            ("ping", _) => {}
            _ => {
                answer(&json!(5), wrong);
                answer(&message["id"], json!({}));
            }
        }
        reply.send("202 Accepted", "content-type: text/plain", "Accepted")
    });
    let (_guard, port) = in_front_of_url(&server.url("/sse"), &ENFORCE);
    let mut client = Listener::open(port, "/sse");
    // The answer comes on the stream, and here.
    let answer = client.ask(&call(4, "t", &json!({})));
    assert_eq!((&answer["id"], answer["result"]["isError"] == true), (&json!(4), true), "{answer}");
    // The server has the call all the same, and answers it late.
    let answer = client.post(&call(5, "t", &json!({})));
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    client.post(&request(5, "ping"));
    client.post(&request(6, "resources/list"));
    let answer = client.next();
    assert!(answer["error"].to_string().contains("already in use"), "{answer}");
    assert_eq!(client.next()["id"], 6);
}
