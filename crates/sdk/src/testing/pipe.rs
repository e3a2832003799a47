//! JSON-RPC over a pipe in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::{mpsc, oneshot},
};

use super::TestError;

type PendingRequests = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// The client's end of the pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    writer: tokio::sync::Mutex<WriteHalf<DuplexStream>>,
    pending: PendingRequests,
    notifications: tokio::sync::Mutex<mpsc::UnboundedReceiver<Value>>,
    reader: tokio::task::AbortHandle,
}

impl Pipe {
    /// Reads from `stream` until it ends.
    pub(super) fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let pending = PendingRequests::default();
        let (sender, notifications) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read(reader, Arc::clone(&pending), sender)).abort_handle();
        let notifications = tokio::sync::Mutex::new(notifications);
        Self { writer: tokio::sync::Mutex::new(writer), pending, notifications, reader }
    }

    /// Writes `line` unchanged.
    pub(super) async fn write(&self, line: &str) -> Result<(), TestError> {
        let mut writer = self.writer.lock().await;
        for part in [line.as_bytes(), b"\n"] {
            writer.write_all(part).await.map_err(|_| TestError::Closed)?;
        }
        writer.flush().await.map_err(|_| TestError::Closed)
    }

    /// Writes `request` with the id `id` and waits for the answer.
    pub(super) async fn exchange(&self, id: u64, request: &Value) -> Result<Value, TestError> {
        let (sender, answer) = oneshot::channel();
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        self.write(&request.to_string()).await?;
        answer.await.map_err(|_| TestError::Closed)
    }

    /// Waits for the next message that is not an answer. Returns `None` if the server closed the pipe.
    pub(super) async fn next_notification(&self) -> Option<Value> {
        self.notifications.lock().await.recv().await
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(
    stream: ReadHalf<DuplexStream>,
    pending: PendingRequests,
    notifications: mpsc::UnboundedSender<Value>,
) {
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { break };
        let id = message.get("id").and_then(Value::as_u64);
        let waiting = id
            .filter(|_| message.get("method").is_none())
            .and_then(|id| pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        // The receiver may be gone.
        _ = match waiting {
            Some(waiting) => waiting.send(message).ok(),
            None => notifications.send(message).ok(),
        };
    }
    pending.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
