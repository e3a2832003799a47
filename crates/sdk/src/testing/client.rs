//! A test client of any protocol revision.

use std::{
    any::type_name,
    borrow::{Borrow, Cow},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rmcp::{ServerHandler, ServiceExt as _};
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Map, Value, json};
use toolbond_contract::{Form, Projection, Revision, Structured, lift_result, project::Unmarked};

use super::{TestError, pipe::Pipe};
use crate::text::{self, shorten};

/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most pages of a tool list.
const MAX_PAGES: usize = 1_000;

/// Capacity of the pipe in bytes.
const PIPE_BYTES: usize = 64 * 1024;

/// A client that is connected to a server under test. Dropping it ends the server.
#[derive(Debug)]
pub struct TestClient {
    pipe: Pipe,
    revision: Revision,
    capabilities: Value,
    info: Value,
    next: AtomicU64,
    server: tokio::task::AbortHandle,
}

/// Runs `server` and connects to it as a client of `revision`: with `initialize` before 2026-07-28, with
/// `server/discover` and the `_meta` of every request from then on.
///
/// # Errors
///
/// Fails if the server refuses the handshake or does not agree to `revision`.
pub async fn connect<H: ServerHandler>(
    server: H,
    revision: impl Borrow<Revision>,
) -> Result<TestClient, TestError> {
    // `TestClient::respond` fills in forms.
    connect_as(server, revision, json!({ "elicitation": {} })).await
}

/// [`connect`] as a client with other capabilities than to fill in forms. `json!({})` is one that cannot be asked.
///
/// # Errors
///
/// The same as [`connect`].
pub async fn connect_as<H: ServerHandler>(
    server: H,
    revision: impl Borrow<Revision>,
    capabilities: Value,
) -> Result<TestClient, TestError> {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let server = tokio::spawn(async move {
        if let Ok(running) = server.serve(far).await {
            // Ends with the pipe.
            _ = running.waiting().await;
        }
    });
    let mut client = TestClient {
        pipe: Pipe::new(near),
        revision: revision.borrow().clone(),
        capabilities,
        info: Value::Null,
        next: AtomicU64::new(0),
        server: server.abort_handle(),
    };
    client.info = client.handshake().await?;
    Ok(client)
}

impl TestClient {
    async fn handshake(&self) -> Result<Value, TestError> {
        let expected = self.revision.to_string();
        if self.revision.is_natural() {
            return self.request("server/discover", json!({})).await;
        }
        let client = json!({
            "protocolVersion": expected,
            "capabilities": self.capabilities,
            "clientInfo": client_info(),
        });
        let info = self.request("initialize", client).await?;
        let found = info["protocolVersion"].as_str().unwrap_or_default();
        if found != expected {
            return Err(TestError::Revision { expected, found: found.to_owned() });
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.pipe.write(&initialized.to_string()).await?;
        Ok(info)
    }

    /// The server's answer to the handshake.
    #[must_use]
    pub const fn info(&self) -> &Value {
        &self.info
    }

    /// Returns the tools of all pages.
    ///
    /// # Errors
    ///
    /// The same as [`TestClient::request`]; also fails if the list has more than 1000 pages.
    pub async fn tools(&self) -> Result<Vec<Value>, TestError> {
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let mut page = self.request("tools/list", params).await?;
            if let Some(Value::Array(more)) = page.get_mut("tools").map(Value::take) {
                tools.extend(more);
            }
            match page.get("nextCursor") {
                Some(cursor) if cursor.is_string() => params = json!({ "cursor": cursor }),
                _ => return Ok(tools),
            }
        }
        Err(TestError::TooManyPages { limit: MAX_PAGES })
    }

    /// Calls the tool `name` and deserializes its structured content in the natural shape: before 2026-07-28 without the
    /// envelope `{"result": …}`. If there is none, reads the only text: a string is the text as it is, anything else is
    /// read as JSON. Without content the value is `null`.
    ///
    /// ```
    /// # struct Weather;
    /// # #[toolbond::tools]
    /// # impl Weather {
    /// #     #[tool]
    /// #     fn forecast(&self, hours: u8) -> Vec<f64> { vec![2.5; hours.into()] }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolbond::testing::TestError> {
    /// use serde_json::json;
    /// use toolbond::{Revision, enforce, testing};
    ///
    /// let client = testing::connect(enforce(Weather), Revision::V2025_11_25).await?;
    /// let hours: Vec<f64> = client.call("forecast", json!({ "hours": 2 })).await?;
    /// assert_eq!(hours, [2.5, 2.5]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The same as [`TestClient::call_result`]; also fails if the tool answers with an error, the value is not a `T`, or
    /// there is other content, such as images or several texts.
    pub async fn call<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<T, TestError> {
        let result = self.call_result(name, arguments).await?;
        if result["isError"] == true {
            let message = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            return Err(TestError::Tool { tool: name.to_owned(), message, result });
        }
        let result =
            if self.revision.is_natural() { result } else { self.lift(name, result).await? };
        let content = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let value = match (result.get(Structured::KEY), content) {
            (Some(value), _) => T::deserialize(value),
            (None, []) => T::deserialize(Value::Null),
            (None, [block]) if block["text"].is_string() => {
                text::read(block["text"].as_str().unwrap_or_default())
            }
            _ => Err(serde_json::Error::custom("expected structured content or one text")),
        };
        value.map_err(|error| TestError::Type {
            tool: name.to_owned(),
            expected: type_name::<T>(),
            found: shorten(&result.get(Structured::KEY).unwrap_or(&result["content"]).to_string()),
            reason: error.to_string(),
        })
    }

    /// Takes the structured content out of its envelope.
    async fn lift(&self, name: &str, result: Value) -> Result<Value, TestError> {
        let tools = self.tools().await?;
        let projection = Projection::default().unmarked(Unmarked::Recognised);
        let tool = tools.iter().find(|tool| tool["name"] == name);
        let shaped = tool.and_then(|tool| projection.lift_tool(tool, &self.revision).ok());
        let form = shaped.map_or(Form::Undeclared, |shaped| shaped.form);
        let lifted = lift_result(&result, form).ok().map(Cow::into_owned);
        Ok(lifted.unwrap_or(result))
    }

    /// Calls the tool `name` and returns the whole result, as the server sent it. A tool error is a result.
    ///
    /// # Errors
    ///
    /// The same as [`TestClient::request`].
    pub async fn call_result(&self, name: &str, arguments: Value) -> Result<Value, TestError> {
        self.request("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Sends a request, with the `_meta` that its revision requires, and returns the result.
    ///
    /// # Errors
    ///
    /// Fails if the server answers with an error, closes the connection, or does not answer within a minute.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, TestError> {
        let mut params = params;
        if let (true, Value::Object(params)) = (self.revision.is_natural(), &mut params) {
            let meta = params.entry("_meta").or_insert_with(|| Map::new().into());
            if let Value::Object(meta) = meta {
                self.add_client_info(meta);
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = tokio::time::timeout(TIMEOUT, self.pipe.exchange(id, &request)).await;
        let mut answer = answer.map_err(|_| TestError::Timeout { method: method.to_owned() })??;
        match (answer.get_mut("result").map(Value::take), answer.get("error")) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(TestError::from_json(error)),
            (None, None) => Err(TestError::Malformed { found: shorten(&answer.to_string()) }),
        }
    }

    /// Answers `request`, which the server has sent, with `result`.
    ///
    /// # Errors
    ///
    /// Fails if the server has closed the connection.
    pub async fn respond(&self, request: &Value, result: Value) -> Result<(), TestError> {
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.pipe.write(&answer.to_string()).await
    }

    /// Waits for the next notification or request of the server.
    ///
    /// # Errors
    ///
    /// Fails if the server closes the connection or sends none within a minute.
    pub async fn next_notification(&self) -> Result<Value, TestError> {
        let next = tokio::time::timeout(TIMEOUT, self.pipe.next_notification()).await;
        let timeout = |_| TestError::Timeout { method: "a notification".to_owned() };
        next.map_err(timeout)?
    }

    fn add_client_info(&self, meta: &mut Map<String, Value>) {
        let own = [
            ("protocolVersion", json!(self.revision.to_string())),
            ("clientInfo", client_info()),
            ("clientCapabilities", self.capabilities.clone()),
        ];
        for (name, value) in own {
            meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
        }
    }
}

impl Drop for TestClient {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn client_info() -> Value {
    json!({ "name": "toolbond-testing", "version": env!("CARGO_PKG_VERSION") })
}
