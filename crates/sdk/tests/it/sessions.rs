//! Sessions: how many there may be, and clients that lose their connection in the middle of a call.
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::iter::repeat_with;
use std::sync::{Arc, mpsc};

use serde_json::json;
use tokio::sync::Notify;
use toolbond_harness::mcp;
use toolbond_harness::wait::HANG;

use crate::http::Served;

/// A server whose one tool answers when it is told to.
#[derive(Clone)]
struct Slow {
    started: mpsc::Sender<()>,
    go: Arc<Notify>,
}

#[toolbond::tools]
impl Slow {
    #[tool]
    async fn wait(&self) -> u8 {
        self.started.send(()).unwrap();
        self.go.notified().await;
        42
    }
}

#[test]
fn there_are_as_many_sessions_as_allowed() {
    let slow = Slow { started: mpsc::channel().0, go: Arc::default() };
    let served = Served::with(slow, "127.0.0.1:0", |http| http.max_sessions(2));
    served.session();
    let second = served.session();
    let hello = mcp::initialize("2025-11-25", &json!({}));
    let third = served.ask(&mcp::post("/mcp", ""), &hello);
    let is_refused = third.starts_with("HTTP/1.1 500") && third.contains("which is the limit");
    assert!(is_refused, "{third}");
    // One that ends makes room for another.
    let ended = served.ask(&format!("DELETE /mcp HTTP/1.1{second}"), "");
    assert!(ended.starts_with("HTTP/1.1 2"), "{ended}");
    served.session();
}

#[test]
fn a_call_goes_on_for_a_client_that_comes_back() {
    let (started, has_started) = mpsc::channel();
    let slow = Slow { started, go: Arc::default() };
    let served = Served::new(slow.clone());
    let session = served.session();
    let post = mcp::post("/mcp", &session);
    let mut call = served.open(&post, &mcp::call(1, "wait", &json!({})));
    let event = repeat_with(|| call.line()).find(|line| line.is_empty() || line.starts_with("id:"));
    let event = event.unwrap().trim_end().replace("id:", "last-event-id:");
    has_started.recv_timeout(HANG).unwrap();
    drop(call);

    let get = format!("GET /mcp HTTP/1.1\r\naccept: text/event-stream{session}\r\n{event}");
    let mut stream = served.open(&get, "");
    stream.wait_for("text/event-stream");
    slow.go.notify_one();
    stream.wait_for(r#""structuredContent":{"result":42}"#);
}
