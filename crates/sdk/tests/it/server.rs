//! A plain `rmcp` server whose tools are data: each answers with what its `_meta` says.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a server for tests only")]

use std::sync::{Arc, Mutex};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, InputRequiredResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

/// Tools that may change while the server runs.
#[derive(Clone, Default)]
pub(crate) struct Plain {
    tools: Arc<Mutex<Vec<Tool>>>,
    calls: Arc<Mutex<Vec<Value>>>,
    page: Option<usize>,
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

    pub(crate) fn set(&self, tools: Value) {
        *self.tools.lock().unwrap() = serde_json::from_value(tools).unwrap();
    }

    /// The arguments of the calls that reached the handler.
    pub(crate) fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

impl ServerHandler for Plain {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.lock().unwrap().clone();
        let Some(size) = self.page else { return Ok(ListToolsResult::with_all_items(tools)) };
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
        let tools = self.tools.lock().unwrap().clone();
        let Some(tool) = tools.into_iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params("tool not found", None));
        };
        let answer = tool.meta.map(|meta| meta.0["answer"].clone()).unwrap_or_default();
        match &answer {
            Value::String(word) if word == "panic" => panic!("secret of the handler"),
            Value::String(word) if word == "ask" => {
                Ok(InputRequiredResult::from_request_state("state").into())
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

/// A result with nothing but structured content.
pub(crate) fn structured(value: Value) -> Value {
    json!({ "content": [], "structuredContent": value })
}
