//! JSON-RPC over a pipe in memory: requests matched with their answers.

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

type Answers = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// The client's end of the pipe.
#[derive(Debug)]
pub(super) struct Pipe {
    writer: tokio::sync::Mutex<WriteHalf<DuplexStream>>,
    answers: Answers,
    notifications: tokio::sync::Mutex<mpsc::UnboundedReceiver<Value>>,
    reader: tokio::task::AbortHandle,
}

impl Pipe {
    /// Reads from `stream` until it ends.
    pub(super) fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let answers = Answers::default();
        let (sender, notifications) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read(reader, Arc::clone(&answers), sender)).abort_handle();
        let notifications = tokio::sync::Mutex::new(notifications);
        Self { writer: tokio::sync::Mutex::new(writer), answers, notifications, reader }
    }

    /// Writes `line` as it is.
    pub(super) async fn write(&self, line: &str) -> Result<(), TestError> {
        let mut writer = self.writer.lock().await;
        for part in [line.as_bytes(), b"\n"] {
            writer.write_all(part).await.map_err(|_| TestError::Closed)?;
        }
        writer.flush().await.map_err(|_| TestError::Closed)
    }

    /// Writes `request`, whose id is `id`, and waits for the answer.
    pub(super) async fn exchange(&self, id: u64, request: &Value) -> Result<Value, TestError> {
        let (sender, answer) = oneshot::channel();
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        self.write(&request.to_string()).await?;
        answer.await.map_err(|_| TestError::Closed)
    }

    /// The next message that answers no request; nothing where the server closed the pipe.
    pub(super) async fn notification(&self) -> Option<Value> {
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
    answers: Answers,
    notifications: mpsc::UnboundedSender<Value>,
) {
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { break };
        let id = message.get("id").and_then(Value::as_u64);
        let waiting = id
            .filter(|_| message.get("method").is_none())
            .and_then(|id| answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        // Whoever asked may have stopped waiting.
        _ = match waiting {
            Some(waiting) => waiting.send(message).ok(),
            None => notifications.send(message).ok(),
        };
    }
    answers.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
