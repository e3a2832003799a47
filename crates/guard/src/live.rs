//! The tools of a live server, all pages of them.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Id;
use crate::fetch::{Endless, PAGES, Pages};
use crate::message::{Initialized, Message, object};

/// Why there are no tools to tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The server cannot be written to or read from.
    #[error("cannot talk to the server")]
    Io(#[from] io::Error),
    /// The server cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Unreached(String),
    /// The server answered with something else than a message.
    #[error("the server answered `{method}` with {status} and no message")]
    Status {
        /// What it was asked.
        method: &'static str,
        /// What it answered.
        status: hyper::StatusCode,
    },
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
    #[error("expected at most {PAGES} pages of tools, each with another cursor")]
    Endless,
    /// This process was told to end by a signal.
    #[error("told to end")]
    ToldToEnd {
        /// 128 and the number of the signal.
        code: u8,
    },
}

/// A server that is asked.
pub(crate) trait Peer {
    /// The answer to a request of this `id`; what the server asks meanwhile is refused.
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Vec<u8>, ToolsError>;

    /// Sends a notification.
    async fn tell(&mut self, notification: &Value) -> Result<(), ToolsError>;

    /// From now on this revision is spoken.
    fn speak(&mut self, _revision: &str) {}
}

/// The revision of the greeting.
const LEGACY: &str = "2025-11-25";

/// The revision of those who know no greeting.
const NATURAL: &str = "2026-07-28";

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

/// All tools of a server.
///
/// It is greeted as 2025-11-25 clients do; one that knows no greeting is asked as it is from
/// 2026-07-28 on.
pub(crate) async fn list(peer: &mut impl Peer) -> Result<Vec<Value>, ToolsError> {
    let client = json!({ "name": "toolpact", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let mut asked = 0;
    let meta = match ask(peer, &mut asked, "initialize", hello).await {
        Ok(result) => {
            let initialized = object::<Initialized<'_>>(&result).ok();
            let version = initialized.and_then(|initialized| initialized.version);
            peer.speak(version.as_deref().unwrap_or(LEGACY));
            peer.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
            None
        }
        Err(ToolsError::Refused { .. } | ToolsError::Status { .. }) => {
            peer.speak(NATURAL);
            Some(json!({
                "io.modelcontextprotocol/protocolVersion": NATURAL,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            }))
        }
        Err(error) => return Err(error),
    };
    let mut all = Vec::new();
    let mut pages = Pages::default();
    loop {
        let mut params = json!({});
        if let Some(cursor) = pages.cursor.as_deref().map(serde_json::from_str::<Value>) {
            params["cursor"] = cursor.map_err(io::Error::from)?;
        }
        if let Some(meta) = &meta {
            params["_meta"] = meta.clone();
        }
        let page = ask(peer, &mut asked, "tools/list", params).await?;
        let page: Page<'_> = object(&page).map_err(io::Error::from)?;
        all.extend(page.tools);
        match pages.turn(page.next.map(|next| next.get().to_owned())) {
            Ok(true) => {}
            Ok(false) => return Ok(all),
            Err(Endless) => return Err(ToolsError::Endless),
        }
    }
}

/// The result of a request, the next after so many.
async fn ask(
    peer: &mut impl Peer,
    asked: &mut i64,
    method: &'static str,
    params: Value,
) -> Result<String, ToolsError> {
    *asked += 1;
    let id = Id::Integer(*asked);
    let request = json!({ "jsonrpc": "2.0", "id": *asked, "method": method, "params": params });
    let answer = peer.ask(method, &id, &request).await?;
    match Message::read(&answer).ok().and_then(|message| message.result) {
        Some(result) => Ok(result.to_owned()),
        None => Err(ToolsError::Refused { method, error: error_of(&answer) }),
    }
}

/// What a server says is wrong.
fn error_of(line: &[u8]) -> String {
    let message: Value = serde_json::from_slice(line).unwrap_or_default();
    let error: String = message["error"].to_string().chars().take(200).collect();
    error
}
