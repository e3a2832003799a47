//! Fetching all pages of the tool list, over any transport.

use std::io;

use serde_json::{Value, json};

use super::call::{Calls, call};
use super::server::{LiveServer, MAX_LIST, MAX_TOOLS, ToolsError, ask};
use toolbond_guard_core::conversation::{Endless, Pages};

/// The revision of `initialize`.
const LEGACY: &str = "2025-11-25";

/// The revision of servers that do not know `initialize`.
pub(super) const NATURAL: &str = "2026-07-28";

/// How to start talking to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// With `initialize`, as clients of 2025-11-25 do. If the server does not know it, go on as clients of 2026-07-28
    /// do.
    Initialize,
    /// As clients of 2026-07-28 do: some servers end when they get `initialize`.
    Modern,
}

/// The tools of a server, as `tools/list` results with all pages in one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listed {
    /// The tools.
    pub first: Value,
    /// The tools when they were asked for once more, if the server answered again.
    pub second: Option<Value>,
    /// What the server calls itself.
    pub name: Option<String>,
    /// The protocol revision that it speaks.
    pub revision: String,
    /// The results of calls, each with the tool.
    pub results: Vec<(String, Value)>,
    /// The start of the first line of a process that is no message.
    pub noise: Option<String>,
}

/// The most characters of what a server calls itself.
const MAX_NAME: usize = 80;

/// What the server of this result calls itself: in the answer to `initialize`, since 2026-07-28 in the `_meta` of any.
fn own_name(result: &Value) -> Option<String> {
    let info = result["_meta"].get("io.modelcontextprotocol/serverInfo");
    let name = info.or_else(|| result.get("serverInfo"))?["name"].as_str()?;
    let name: String = name.chars().take(MAX_NAME).collect();
    (!name.trim().is_empty()).then_some(name)
}

/// Fetches all tools of a server, twice if `calls` do not say otherwise, and makes `calls`.
pub(super) async fn list(
    peer: &mut impl LiveServer,
    opening: Opening,
    calls: &Calls,
) -> Result<Listed, ToolsError> {
    let mut asked = 0;
    let Opened { meta, mut name, revision } = open(peer, &mut asked, opening).await?;
    let first = list_pages(peer, &mut asked, meta.as_ref(), &mut name).await?;
    let second = if calls.lists_once {
        None
    } else {
        list_pages(peer, &mut asked, meta.as_ref(), &mut name).await.ok()
    };
    let results = call(peer, &mut asked, meta.as_ref(), &first, calls).await?;
    Ok(Listed { first, second, name, revision, results, noise: None })
}

/// A server that has been greeted.
pub(super) struct Opened {
    /// The `_meta` of all requests to a server of 2026-07-28, nothing for an earlier one.
    pub(super) meta: Option<Value>,
    /// What the server calls itself, if it has said so.
    name: Option<String>,
    /// The protocol revision that it speaks.
    revision: String,
}

/// Starts talking to a server.
pub(super) async fn open(
    peer: &mut impl LiveServer,
    asked: &mut i64,
    opening: Opening,
) -> Result<Opened, ToolsError> {
    let client = json!({ "name": "toolbond", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    let answer = match opening {
        Opening::Initialize => ask(peer, asked, "initialize", hello).await.map(Some),
        Opening::Modern => Ok(None),
    };
    match answer {
        Ok(Some(result)) => {
            let revision = result["protocolVersion"].as_str().unwrap_or(LEGACY);
            let revision: String = revision.chars().take(MAX_NAME).collect();
            peer.set_revision(&revision);
            peer.notify(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                .await?;
            Ok(Opened { meta: None, name: own_name(&result), revision })
        }
        Ok(None) | Err(ToolsError::Refused { .. } | ToolsError::Status { .. }) => {
            peer.set_revision(NATURAL);
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": NATURAL,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            Ok(Opened { meta: Some(meta), name: None, revision: NATURAL.to_owned() })
        }
        Err(error) => Err(error),
    }
}

/// Fetches all pages of the list. Keeps what the server calls itself in `name`.
async fn list_pages(
    peer: &mut impl LiveServer,
    asked: &mut i64,
    meta: Option<&Value>,
    name: &mut Option<String>,
) -> Result<Value, ToolsError> {
    let (mut all, mut bytes) = (Vec::new(), 0);
    let mut pages = Pages::default();
    loop {
        let mut params = json!({});
        if let Some(cursor) = pages.cursor.as_deref().map(serde_json::from_str::<Value>) {
            params["cursor"] = cursor.map_err(io::Error::from)?;
        }
        if let Some(meta) = meta {
            params["_meta"] = meta.clone();
        }
        let mut page = ask(peer, asked, "tools/list", params).await?;
        *name = name.take().or_else(|| own_name(&page));
        if let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) {
            if tools.len() > MAX_TOOLS - all.len() {
                return Err(ToolsError::TooLong);
            }
            bytes += tools.iter().map(|tool| tool.to_string().len()).sum::<usize>();
            if bytes > MAX_LIST {
                return Err(ToolsError::TooLong);
            }
            all.extend(tools);
        }
        let next = page.get("nextCursor").filter(|next| !next.is_null());
        match pages.advance(next.map(Value::to_string)) {
            Ok(true) => {}
            Ok(false) => return Ok(json!({ "tools": all })),
            Err(Endless) => return Err(ToolsError::Endless),
        }
    }
}
