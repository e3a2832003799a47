//! Fetching the tools of a server that is a process.

use std::io;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;
use toolbond_listen::Signals;

use super::call::Calls;
use super::list::{Listed, Opening, list};
use super::server::{LiveServer, ToolsError};
use crate::back::child::Child;
use crate::memory::{MemoryLimit, Sender};
use crate::pipe::line::{Line, LineReader};
use toolbond_guard_core::message::{Id, code, error};
use toolbond_guard_core::settings::MAX_MESSAGE;

/// Fetches all tools of a server, makes `calls`, and ends it.
///
/// Use it with a timeout: a server may never answer. If a signal ends this process meanwhile, the server
/// ends, too.
pub fn tools(
    child: Child,
    opening: Opening,
    calls: Calls,
) -> LocalBoxFuture<'static, Result<Listed, ToolsError>> {
    Box::pin(list_and_end(child, opening, calls))
}

async fn list_and_end(
    mut child: Child,
    opening: Opening,
    calls: Calls,
) -> Result<Listed, ToolsError> {
    let mut signals = Signals::register(true)?;
    let Some((stdout, stdin)) = child.streams() else {
        return Err(ToolsError::Ended { method: "start", how: None });
    };
    let mut asker = LiveProcess {
        reader: LineReader::new(stdout, Sender::Asked, MAX_MESSAGE, &MemoryLimit::default()),
        writer: stdin,
        patience: calls.answer_within,
        noise: None,
    };
    let caught = {
        let listed = async {
            let whole = calls.answer_within.map(|limit| 2 * limit);
            let mut tools = match whole {
                None => list(&mut asker, opening, &calls).await,
                Some(whole) => timeout(whole, list(&mut asker, opening, &calls))
                    .await
                    .unwrap_or(Err(ToolsError::Slow { seconds: whole.as_secs() })),
            };
            if let Ok(listed) = &mut tools {
                listed.noise = asker.noise.take();
            }
            drop(asker);
            let ended = child.end().await;
            // How it ends is of no interest once it has answered.
            match (tools, ended) {
                (Err(error), Ok(status)) => Err(error.with_end(|| child.describe_end(status))),
                (tools, _) => tools,
            }
        };
        tokio::select! {
            tools = listed => return tools,
            caught = signals.next() => caught,
        }
    };
    let _ = child.end_with(caught.number().into()).await;
    Err(ToolsError::Interrupted { code: caught.exit_code() })
}

/// The answer to a request of the server.
fn answer_to(method: &Value, asked: &Id, id: &Value) -> String {
    if method == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string();
    }
    let refusal = error(Some(asked), code::METHOD, "not supported");
    String::from_utf8_lossy(&refusal).into_owned()
}

struct LiveProcess {
    reader: LineReader<ChildStdout>,
    writer: ChildStdin,
    /// How long each answer may take.
    patience: Option<Duration>,
    /// The start of the first line that is no message.
    noise: Option<String>,
}

/// The most characters that are kept of a line that is no message.
const MAX_NOISE: usize = 100;

impl LiveServer for LiveProcess {
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Value, ToolsError> {
        let Some(patience) = self.patience else { return self.answer(method, id, request).await };
        match timeout(patience, self.answer(method, id, request)).await {
            Ok(answer) => answer,
            Err(_) => {
                let noise = self.noise.take();
                Err(ToolsError::Silent { method, seconds: patience.as_secs(), noise })
            }
        }
    }

    async fn notify(&mut self, notification: &Value) -> Result<(), ToolsError> {
        let text = notification.to_string();
        match self.patience {
            None => Ok(self.send(&text).await?),
            Some(patience) => match timeout(patience, self.send(&text)).await {
                Ok(sent) => Ok(sent?),
                Err(_) => Err(ToolsError::Unread { seconds: patience.as_secs() }),
            },
        }
    }
}

impl LiveProcess {
    /// Sends `request` and reads until it is answered.
    async fn answer(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Value, ToolsError> {
        self.send(&request.to_string()).await?;
        loop {
            let line = match self.reader.next().await? {
                None => return Err(ToolsError::Ended { method, how: None }),
                Some(Line::TooLong(text)) => {
                    return Err(ToolsError::Refused { method, error: text.reason });
                }
                Some(Line::Whole(line)) => line,
            };
            // Lines that are no messages are skipped, as clients do.
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                self.note_noise(&line);
                continue;
            };
            let found = message.get("id").and_then(|found| Id::parse(&found.to_string()));
            match (message.get("method"), found) {
                (None, Some(found)) if found == *id => return Ok(message),
                (Some(method), Some(asked)) => {
                    self.send(&answer_to(method, &asked, &message["id"])).await?;
                }
                _ => {}
            }
        }
    }

    fn note_noise(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line.trim_ascii());
        if self.noise.is_none() && !text.is_empty() {
            self.noise = Some(text.chars().take(MAX_NOISE).collect());
        }
    }

    async fn send(&mut self, message: &str) -> io::Result<()> {
        match self.writer.write_all(format!("{message}\n").as_bytes()).await {
            // It ended: there is nothing to read, either.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}
