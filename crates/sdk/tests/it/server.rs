//! A plain `rmcp` server whose tools are data: each answers with what its `_meta` says.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a server for tests only")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CreateTaskResult, InputRequiredResult,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Task, TaskStatus, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolbond::testing::{self, TestClient};
use toolbond::{Finding, Revision, ServerOptions, enforce_with};

/// A revision of either era.
pub(crate) const OLD: Revision = Revision::V2025_11_25;
pub(crate) const NEW: Revision = Revision::V2026_07_28;
pub(crate) const BOTH: [Revision; 2] = [OLD, NEW];

/// A client of `server`, which is behind the contract of its tools.
pub(crate) async fn connect(server: impl ServerHandler, revision: Revision) -> TestClient {
    connect_with(server, ServerOptions::default(), revision).await
}

/// The same with other options.
pub(crate) async fn connect_with(
    server: impl ServerHandler,
    options: ServerOptions,
    revision: Revision,
) -> TestClient {
    testing::connect(enforce_with(server, options), revision).await.unwrap()
}

/// Options that note what `say` says of findings, and the notes.
pub(crate) fn noting(
    say: impl Fn(&Finding) -> Option<String> + Send + Sync + 'static,
) -> (ServerOptions, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::<Mutex<Vec<String>>>::default();
    let heard = Arc::clone(&notes);
    let note = move |finding: &Finding| heard.lock().unwrap().extend(say(finding));
    (ServerOptions::default().on_finding(note), notes)
}

/// The names of listed tools.
pub(crate) fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// Tools that may change while the server runs.
#[derive(Clone, Default)]
pub(crate) struct Plain {
    tools: Arc<Mutex<Vec<Tool>>>,
    calls: Arc<Mutex<Vec<Value>>>,
    lists: Arc<AtomicUsize>,
    page: Option<usize>,
    ttl: Option<u64>,
    changes: Option<Arc<Notify>>,
}

impl Plain {
    pub(crate) fn new(tools: Value) -> Self {
        let server = Self::default();
        server.set(tools);
        server
    }

    /// Lists `size` tools to a page.
    pub(crate) fn paged(mut self, size: usize) -> Self {
        self.page = Some(size);
        self
    }

    /// Lets clients keep lists for `milliseconds`.
    pub(crate) fn ttl(mut self, milliseconds: u64) -> Self {
        self.ttl = Some(milliseconds);
        self
    }

    /// Declares that tools change, and says so when [`Plain::change`] is called.
    pub(crate) fn changing(mut self) -> Self {
        self.changes = Some(Arc::default());
        self
    }

    /// Sets the tools and lets clients know.
    pub(crate) fn change(&self, tools: Value) {
        self.set(tools);
        self.changes.as_ref().unwrap().notify_one();
    }

    /// How often tools were listed.
    pub(crate) fn lists(&self) -> usize {
        self.lists.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, tools: Value) {
        *self.tools.lock().unwrap() = serde_json::from_value(tools).unwrap();
    }

    /// The tool called `name`.
    pub(crate) fn find(&self, name: &str) -> Option<Tool> {
        self.tools.lock().unwrap().iter().find(|tool| tool.name == name).cloned()
    }

    /// The arguments of the calls that reached the handler.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

impl ServerHandler for Plain {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(match self.changes {
            Some(_) => tools.enable_tool_list_changed().build(),
            None => tools.build(),
        })
    }

    /// Before 2026-07-28, changes are sent to everyone.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Some(changes) = self.changes.clone() else { return };
        tokio::spawn(async move {
            loop {
                changes.notified().await;
                if context.peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.changes.as_ref().map(|_| requested.clone())
    }

    /// From then on, to those who asked.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Some(changes) = &self.changes else { return Ok(()) };
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = changes.notified() => context.sink().notify_tool_list_changed().await.unwrap(),
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        let tools = self.tools.lock().unwrap().clone();
        let Some(size) = self.page else {
            let mut list = ListToolsResult::with_all_items(tools);
            list.ttl_ms = self.ttl;
            return Ok(list);
        };
        let cursor = request.and_then(|request| request.cursor);
        let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let end = (start + size).min(tools.len());
        let mut page = ListToolsResult::with_all_items(tools[start..end].to_vec());
        page.next_cursor = (end < tools.len()).then(|| end.to_string());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.calls.lock().unwrap().push(json!(request.arguments));
        let Some(tool) = self.find(&request.name) else {
            return Err(ErrorData::invalid_params("tool not found", None));
        };
        let answer = tool.meta.map(|meta| meta.0["answer"].clone()).unwrap_or_default();
        match &answer {
            Value::String(word) if word == "panic" => panic!("secret of the handler"),
            Value::String(word) if word == "ask" => {
                Ok(InputRequiredResult::from_request_state("state").into())
            }
            Value::String(word) if word == "task" => {
                let task = Task::new("task-1", TaskStatus::Working, "2026-11-01", "2026-11-01");
                Ok(CreateTaskResult::new(task).into())
            }
            _ => {
                let result: rmcp::model::CallToolResult = serde_json::from_value(answer).unwrap();
                Ok(result.into())
            }
        }
    }
}

/// A tool without arguments that answers with `answer`.
pub(crate) fn tool(name: &str, output: Value, answer: Value) -> Value {
    let mut tool = json!({
        "name": name,
        "inputSchema": { "type": "object" },
        "outputSchema": output,
        "_meta": { "answer": answer }
    });
    if tool["outputSchema"].is_null() {
        tool.as_object_mut().unwrap().remove("outputSchema");
    }
    tool
}

/// A tool that takes what `input` allows, and answers with nothing.
pub(crate) fn taking(name: &str, input: Value) -> Value {
    let mut tool = tool(name, Value::Null, json!({ "content": [] }));
    tool["inputSchema"] = input;
    tool
}

/// A result with nothing but structured content.
pub(crate) fn structured(value: Value) -> Value {
    json!({ "content": [], "structuredContent": value })
}
