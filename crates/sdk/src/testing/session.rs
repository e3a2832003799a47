//! A client of any protocol revision.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::{Map, Value, json};
use toolpact_contract::Revision;

use super::{TestError, pipe::Pipe};

/// How long an answer is waited for: far longer than any should take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pages of a tool list that are read.
const PAGES: usize = 1_000;

/// Bytes that the pipe holds.
const PIPE: usize = 64 * 1024;

/// A connection to a server under test, which ends when this is dropped.
#[derive(Debug)]
pub struct Session {
    pipe: Pipe,
    revision: Revision,
    info: Value,
    next: AtomicU64,
    server: tokio::task::AbortHandle,
}

/// Runs `server` and connects to it as a client of `revision`: by `initialize` before 2026-07-28, by
/// `server/discover` and the `_meta` of every request from then on.
///
/// # Errors
///
/// Where the server refuses the handshake or does not agree to `revision`.
pub async fn connect<H: ServerHandler>(
    server: H,
    revision: Revision,
) -> Result<Session, TestError> {
    let (near, far) = tokio::io::duplex(PIPE);
    let server = tokio::spawn(async move {
        if let Ok(running) = server.serve(far).await {
            // Ends with the pipe.
            _ = running.waiting().await;
        }
    });
    let mut session = Session {
        pipe: Pipe::new(near),
        revision,
        info: Value::Null,
        next: AtomicU64::new(0),
        server: server.abort_handle(),
    };
    session.info = session.open().await?;
    Ok(session)
}

impl Session {
    async fn open(&self) -> Result<Value, TestError> {
        let wanted = self.revision.to_string();
        if self.revision.is_natural() {
            return self.request("server/discover", json!({})).await;
        }
        let client = json!({
            "protocolVersion": wanted,
            "capabilities": {},
            "clientInfo": client_info(),
        });
        let info = self.request("initialize", client).await?;
        let found = info["protocolVersion"].as_str().unwrap_or_default();
        if found != wanted {
            return Err(TestError::Revision { wanted, found: found.to_owned() });
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.pipe.write(&initialized.to_string()).await?;
        Ok(info)
    }

    /// What the server said about itself in the handshake.
    #[must_use]
    pub const fn info(&self) -> &Value {
        &self.info
    }

    /// The tools, all pages of them.
    ///
    /// # Errors
    ///
    /// As [`Session::request`], and where the list has more than 1000 pages.
    pub async fn tools(&self) -> Result<Vec<Value>, TestError> {
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..PAGES {
            let mut page = self.request("tools/list", params).await?;
            if let Some(Value::Array(more)) = page.get_mut("tools").map(Value::take) {
                tools.extend(more);
            }
            match page.get("nextCursor") {
                Some(cursor) if cursor.is_string() => params = json!({ "cursor": cursor }),
                _ => return Ok(tools),
            }
        }
        Err(TestError::TooManyPages { limit: PAGES })
    }

    /// Calls the tool `name` and gives the whole result, tool errors included.
    ///
    /// # Errors
    ///
    /// As [`Session::request`].
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, TestError> {
        self.request("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Sends a request, with the `_meta` its revision asks for, and gives the result.
    ///
    /// # Errors
    ///
    /// Where the server answers with an error, closes the connection, or does not answer in a minute.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, TestError> {
        let mut params = params;
        if let (true, Value::Object(params)) = (self.revision.is_natural(), &mut params) {
            let meta = params.entry("_meta").or_insert_with(|| Map::new().into());
            if let Value::Object(meta) = meta {
                self.sign(meta);
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = tokio::time::timeout(PATIENCE, self.pipe.exchange(id, &request)).await;
        let mut answer = answer.map_err(|_| TestError::Silent { method: method.to_owned() })??;
        match (answer.get_mut("result").map(Value::take), answer.get("error")) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(TestError::of(error)),
            (None, None) => {
                Err(TestError::Malformed { found: answer.to_string().chars().take(60).collect() })
            }
        }
    }

    /// The next message of the server that answers no request, such as a notification.
    ///
    /// # Errors
    ///
    /// Where the server closes the connection, or sends none in a minute.
    pub async fn notification(&self) -> Result<Value, TestError> {
        let next = tokio::time::timeout(PATIENCE, self.pipe.notification()).await;
        let silent = |_| TestError::Silent { method: "a notification".to_owned() };
        next.map_err(silent)?.ok_or(TestError::Closed)
    }

    fn sign(&self, meta: &mut Map<String, Value>) {
        let own = [
            ("protocolVersion", json!(self.revision.to_string())),
            ("clientInfo", client_info()),
            ("clientCapabilities", json!({})),
        ];
        for (name, value) in own {
            meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn client_info() -> Value {
    json!({ "name": "toolpact-testing", "version": env!("CARGO_PKG_VERSION") })
}
