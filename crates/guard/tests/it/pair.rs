//! A client and a server with a relay between them.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use tokio::io::split;
use toolbond_guard::stdio::{End, relay};
use toolbond_guard::{Event, GuardedServer, Listener, MemoryLimit, Settings};
use toolbond_harness::http::Connection;
use toolbond_harness::mcp::request;

/// What a guard says.
pub(crate) type Said = Arc<Mutex<Vec<String>>>;

/// A listener, and what it hears.
pub(crate) fn listener() -> (Arc<dyn Listener>, Said) {
    let said = Said::default();
    let hears = Arc::clone(&said);
    (Arc::new(move |event: Event| hears.lock().unwrap().push(event.to_string())), said)
}

/// Runs a guard on a thread of its own, as the test waits for its peers.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// One side of the conversation, as the test plays it.
pub(crate) struct Peer(Connection);

impl Peer {
    /// A peer, and its connection as the guard has it.
    pub(crate) fn new() -> (Self, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = Connection::to(listener.local_addr().unwrap());
        let (guard, _) = listener.accept().unwrap();
        for stream in [peer.reader.get_ref(), &guard] {
            stream.set_nodelay(true).unwrap();
        }
        guard.set_nonblocking(true).unwrap();
        (Self(peer), guard)
    }

    /// Sends `text` and a line break.
    pub(crate) fn send(&mut self, text: &str) {
        self.send_bytes(format!("{text}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes).unwrap();
    }

    /// The next line, with its line break; empty at the end.
    pub(crate) fn line(&mut self) -> String {
        self.0.line()
    }

    pub(crate) fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Nothing more is sent.
    pub(crate) fn close(&mut self) {
        self.0.reader.get_ref().shutdown(Shutdown::Write).unwrap();
    }
}

/// The conversation.
pub(crate) struct Pair {
    pub(crate) client: Peer,
    pub(crate) server: Peer,
    pub(crate) relay: JoinHandle<End>,
    said: Said,
}

impl Pair {
    pub(crate) fn new(settings: Settings) -> Self {
        let (listener, said) = listener();
        let guarded = Arc::new(GuardedServer::new("server", settings, listener));
        let ((client, to_client), (server, to_server)) = (Peer::new(), Peer::new());
        let carry = async move {
            let [client, server] = [to_client, to_server]
                .map(|stream| split(tokio::net::TcpStream::from_std(stream).unwrap()));
            relay(client, server, guarded, Arc::new(MemoryLimit::default())).await
        };
        Self { client, server, relay: thread::spawn(|| runtime().block_on(carry)), said }
    }

    /// After the handshake of a revision.
    pub(crate) fn greeted(settings: Settings, revision: &str) -> Self {
        let mut pair = Self::new(settings);
        pair.passes(r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}"#);
        let result = format!(r#"{{"protocolVersion":"{revision}"}}"#);
        pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":"hello","result":{result}}}"#));
        pair
    }

    /// After the handshake of a revision, and a list of `tools`.
    pub(crate) fn listed(settings: Settings, revision: &str, tools: &str) -> Self {
        let mut pair = Self::greeted(settings, revision);
        pair.list(tools);
        pair
    }

    /// After the modern handshake.
    pub(crate) fn discovered(settings: Settings) -> Self {
        let mut pair = Self::new(settings);
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} });
        let mut hello: Value = serde_json::from_str(&request(0, "server/discover")).unwrap();
        hello["params"] = json!({ "_meta": meta });
        pair.passes(&hello.to_string());
        pair.comes(&result(0, r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#));
        pair
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// The client sends `text`, and the server gets it as it is.
    pub(crate) fn passes(&mut self, text: &str) {
        self.becomes(text, text);
    }

    /// The client sends `text`, and the server gets `expected`.
    pub(crate) fn becomes(&mut self, text: &str, expected: &str) {
        self.client.send(text);
        assert_eq!(self.server.line(), format!("{expected}\n"));
    }

    /// The server sends `text`, and the client gets it as it is.
    pub(crate) fn comes(&mut self, text: &str) {
        self.server.send(text);
        assert_eq!(self.client.line(), format!("{text}\n"));
    }

    /// What the client gets for `text`.
    pub(crate) fn ask(&mut self, text: &str) -> Value {
        self.client.send(text);
        self.client.json()
    }

    /// What the client gets for a call that it sends.
    pub(crate) fn refuses(&mut self, call: &str) -> Value {
        let answer = self.ask(call);
        assert_eq!(answer["result"]["isError"], true, "{call:.200}: {answer}");
        answer
    }

    /// What the client gets when the server sends `text`.
    pub(crate) fn tell(&mut self, text: &str) -> Value {
        self.server.send(text);
        self.client.json()
    }

    /// The client asks for the tools and the server answers with `tools`: what the client gets.
    pub(crate) fn list(&mut self, tools: &str) -> Value {
        self.passes(&request(1, "tools/list"));
        self.tell(&result(1, &format!(r#"{{"tools":{tools}}}"#)))
    }

    /// How the relay ended.
    pub(crate) fn end(self) -> End {
        self.relay.join().unwrap()
    }
}

/// The answer to the request `id`.
pub(crate) fn result(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}
