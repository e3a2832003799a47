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
use crate::text::shorten;

/// The requests that wait for an answer, or why none will come.
type PendingRequests = Arc<Mutex<Result<HashMap<u64, oneshot::Sender<Value>>, TestError>>>;

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
        let pending = PendingRequests::new(Mutex::new(Ok(HashMap::new())));
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
        match &mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(pending) => _ = pending.insert(id, sender),
            Err(error) => return Err(error.clone()),
        }
        self.write(&request.to_string()).await?;
        answer.await.map_err(|_| self.end())
    }

    /// Waits for the next message that is not an answer.
    pub(super) async fn next_notification(&self) -> Result<Value, TestError> {
        self.notifications.lock().await.recv().await.ok_or_else(|| self.end())
    }

    /// Why nothing comes from the server any more.
    fn end(&self) -> TestError {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.as_ref().err().cloned().unwrap_or(TestError::Closed)
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
    let lock = || pending.lock().unwrap_or_else(PoisonError::into_inner);
    let end = loop {
        let Ok(Some(line)) = lines.next_line().await else { break TestError::Closed };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            break TestError::Malformed { found: shorten(&line) };
        };
        let id = message.get("id").and_then(Value::as_u64);
        let waiting = id
            .filter(|_| message.get("method").is_none())
            .and_then(|id| lock().as_mut().ok()?.remove(&id));
        // The receiver may be gone.
        _ = match waiting {
            Some(waiting) => waiting.send(message).ok(),
            None => notifications.send(message).ok(),
        };
    };
    // Drops the requests that wait.
    *lock() = Err(end);
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::AsyncWriteExt as _;

    use super::Pipe;
    use crate::testing::TestError;

    /// Time passes where there is nothing else to do.
    #[tokio::test(start_paused = true)]
    async fn after_a_line_that_is_no_message_every_request_fails_at_once() {
        let (near, mut far) = tokio::io::duplex(1024);
        let pipe = Pipe::new(near);
        far.write_all(b"{}\nhello\n").await.unwrap();
        assert_eq!(pipe.next_notification().await, Ok(json!({})));
        let malformed = TestError::Malformed { found: "hello".to_owned() };
        assert_eq!(pipe.next_notification().await, Err(malformed.clone()));
        let request = json!({});
        for id in 0..2 {
            let answer = pipe.exchange(id, &request);
            let answer = tokio::time::timeout(std::time::Duration::from_secs(60), answer).await;
            assert_eq!(answer.expect("no answer comes"), Err(malformed.clone()));
        }
    }

    #[tokio::test]
    async fn a_request_that_waits_learns_why_no_answer_comes() {
        let (near, mut far) = tokio::io::duplex(1024);
        let pipe = Pipe::new(near);
        let request = json!({ "id": 1 });
        let server = async {
            far.write_all(b"<html>\n").await.unwrap();
        };
        let (answer, ()) = tokio::join!(pipe.exchange(1, &request), server);
        assert_eq!(answer, Err(TestError::Malformed { found: "<html>".to_owned() }));
    }
}
