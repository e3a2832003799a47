//! A client and a server with a relay between them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolbond_guard::stdio::{End, relay};
use toolbond_guard::{Event, GuardedServer, MemoryLimit, Settings};

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(120);

/// One side of the conversation, as the test plays it.
pub(crate) struct Peer {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Peer {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self { reader: BufReader::new(reader), writer }
    }

    /// Sends `text` and a line break.
    pub(crate) async fn send(&mut self, text: &str) {
        self.send_bytes(format!("{text}\n").as_bytes()).await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        timeout(HANG, self.writer.write_all(bytes)).await.unwrap().unwrap();
    }

    /// The next line, with its line break; empty at the end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        timeout(HANG, self.reader.read_line(&mut line)).await.unwrap().unwrap();
        line
    }

    pub(crate) async fn json(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Nothing more is sent.
    pub(crate) async fn close(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

/// The conversation.
pub(crate) struct Pair {
    pub(crate) client: Peer,
    pub(crate) server: Peer,
    pub(crate) relay: JoinHandle<End>,
    said: Arc<Mutex<Vec<String>>>,
}

impl Pair {
    pub(crate) fn new(settings: Settings) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let listener = move |event: Event| hears.lock().unwrap().push(event.to_string());
        let guarded = Arc::new(GuardedServer::new("server", settings, Arc::new(listener)));
        let memory = Arc::new(MemoryLimit::default());
        let (client, to_client) = duplex(1 << 16);
        let (server, to_server) = duplex(1 << 16);
        let relay = tokio::spawn(async move {
            relay(split(to_client), split(to_server), guarded, memory).await
        });
        Self { client: Peer::new(client), server: Peer::new(server), relay, said }
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// The client sends `text`, and the server gets it as it is.
    pub(crate) async fn passes(&mut self, text: &str) {
        self.client.send(text).await;
        assert_eq!(self.server.line().await, format!("{text}\n"));
    }

    /// The server sends `text`, and the client gets it as it is.
    pub(crate) async fn comes(&mut self, text: &str) {
        self.server.send(text).await;
        assert_eq!(self.client.line().await, format!("{text}\n"));
    }

    /// The handshake of a revision.
    pub(crate) async fn initialize(&mut self, revision: &str) {
        self.passes(r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{}}"#).await;
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":"hello","result":{{"protocolVersion":"{revision}"}}}}"#
        );
        self.comes(&answer).await;
    }

    /// The modern handshake.
    pub(crate) async fn discover(&mut self) {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        self.passes(&format!(
            r#"{{"jsonrpc":"2.0","id":"hello","method":"server/discover","params":{{"_meta":{meta}}}}}"#
        ))
        .await;
        let result = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
        self.comes(&format!(r#"{{"jsonrpc":"2.0","id":"hello","result":{result}}}"#)).await;
    }

    /// The client asks for the tools and the server answers with `tools`: what the client gets.
    pub(crate) async fn list(&mut self, tools: &str) -> Value {
        self.passes(r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#).await;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"list","result":{{"tools":{tools}}}}}"#);
        self.server.send(&answer).await;
        self.client.json().await
    }

    /// How the relay ended.
    pub(crate) async fn end(self) -> End {
        timeout(HANG, self.relay).await.unwrap().unwrap()
    }
}
