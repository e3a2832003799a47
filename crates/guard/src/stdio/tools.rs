//! The tools of a live server.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::child::Server;
use super::line::{Line, read_line};
use super::signals::Signals;
use crate::live::{Peer, ToolsError, list};
use crate::message::{Kind, Message, code, error};
use crate::{Id, MAX_MESSAGE};

/// Asks a server for all its tools, and ends it: a `tools/list` result with all pages in one.
///
/// Servers are greeted as 2025-11-25 clients do; one that knows no greeting is asked as it is from
/// 2026-07-28 on. Wait for it with a timeout: a server may never answer. Where this process is told to
/// end meanwhile, the server is, too.
pub async fn tools(mut server: Server) -> Result<Value, ToolsError> {
    let mut signals = Signals::listen()?;
    let Some((stdout, stdin)) = server.streams() else { return Err(ToolsError::Ended("start")) };
    let mut asker = Asker { reader: BufReader::new(stdout), writer: stdin };
    let caught = {
        let listed = async {
            let tools = list(&mut asker).await;
            drop(asker);
            // How it ends is of no interest once it has answered.
            let _ = server.end().await;
            tools
        };
        tokio::select! {
            tools = listed => return tools.map(|tools| json!({ "tools": tools })),
            caught = signals.next() => caught,
        }
    };
    let _ = server.end_by(caught).await;
    Err(ToolsError::ToldToEnd { code: caught.code() })
}

struct Asker {
    reader: BufReader<ChildStdout>,
    writer: ChildStdin,
}

impl Peer for Asker {
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Vec<u8>, ToolsError> {
        self.send(request).await?;
        loop {
            let line = match read_line(&mut self.reader, MAX_MESSAGE).await? {
                None => return Err(ToolsError::Ended(method)),
                Some(Line::TooLong { bytes, .. }) => {
                    let error =
                        format!("message of {bytes} bytes exceeds the limit of {MAX_MESSAGE}");
                    return Err(ToolsError::Refused { method, error });
                }
                Some(Line::Whole(line)) => line,
            };
            // Chatter is passed over, as clients do.
            let Ok(message) = Message::read(&line) else { continue };
            match message.kind() {
                Kind::Response(answered) if answered == *id => return Ok(line),
                Kind::Request(id, _) => {
                    let refusal = error(Some(&id), code::REQUEST, "not supported");
                    self.writer.write_all(&refusal).await?;
                }
                _ => {}
            }
        }
    }

    async fn tell(&mut self, notification: &Value) -> Result<(), ToolsError> {
        Ok(self.send(notification).await?)
    }
}

impl Asker {
    async fn send(&mut self, message: &Value) -> io::Result<()> {
        match self.writer.write_all(format!("{message}\n").as_bytes()).await {
            // It ended: there is nothing to read, either.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}
