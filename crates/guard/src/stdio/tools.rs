//! The tools of a live server.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

use super::child::Server;
use super::line::{Line, read_line};
use crate::message::{Kind, Message, code, error, object};
use crate::{Id, MAX_MESSAGE};

/// The most pages that are asked for.
const PAGES: usize = 1000;

/// Why there are no tools to tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The server cannot be written to or read from.
    #[error("cannot talk to the server")]
    Io(#[from] io::Error),
    /// The server ended.
    #[error("the server ended before it answered `{0}`")]
    Ended(&'static str),
    /// The server answered with an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// The error, as JSON.
        error: String,
    },
    /// The list does not end.
    #[error("expected at most {PAGES} pages of tools")]
    Endless,
}

/// Asks a server for all its tools, and ends it: a `tools/list` result with all pages in one.
///
/// Servers are greeted as 2025-11-25 clients do; one that knows no greeting is asked as it is from
/// 2026-07-28 on. Wait for it with a timeout: a server may never answer.
pub async fn tools(mut server: Server) -> Result<Value, ToolsError> {
    let Some((stdout, stdin)) = server.streams() else { return Err(ToolsError::Ended("start")) };
    let mut asker = Asker { reader: BufReader::new(stdout), writer: stdin, asked: 0 };
    let tools = asker.tools().await;
    drop(asker);
    // How it ends is of no interest once it has answered.
    let _ = server.end().await;
    tools.map(|tools| json!({ "tools": tools }))
}

struct Asker {
    reader: BufReader<ChildStdout>,
    writer: ChildStdin,
    asked: i64,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default, rename = "nextCursor")]
    next: Option<Value>,
}

impl Asker {
    async fn tools(&mut self) -> Result<Vec<Value>, ToolsError> {
        let client = json!({ "name": "toolpact", "version": env!("CARGO_PKG_VERSION") });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let meta = match self.ask("initialize", hello).await {
            Ok(_) => {
                self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                    .await?;
                None
            }
            Err(ToolsError::Refused { .. }) => Some(json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            })),
            Err(error) => return Err(error),
        };
        let mut all = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let mut params = json!({});
            if let Some(cursor) = cursor {
                params["cursor"] = cursor;
            }
            if let Some(meta) = &meta {
                params["_meta"] = meta.clone();
            }
            let page = self.ask("tools/list", params).await?;
            let page: Page = object(&page).map_err(io::Error::from)?;
            all.extend(page.tools);
            cursor = page.next;
            if cursor.is_none() {
                return Ok(all);
            }
        }
        Err(ToolsError::Endless)
    }

    /// The result of a request; what the server asks meanwhile is refused.
    async fn ask(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Box<RawValue>, ToolsError> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
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
                Kind::Response(Id::Integer(answered)) if answered == id => {
                    return match message.result {
                        Some(result) => Ok(result.to_owned()),
                        None => Err(ToolsError::Refused { method, error: error_of(&line) }),
                    };
                }
                Kind::Request(id, _) => {
                    let refusal = error(Some(&id), code::REQUEST, "not supported");
                    self.writer.write_all(&refusal).await?;
                }
                _ => {}
            }
        }
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.writer.write_all(format!("{message}\n").as_bytes()).await
    }
}

fn error_of(line: &[u8]) -> String {
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let error: String = message["error"].to_string().chars().take(200).collect();
    error
}
