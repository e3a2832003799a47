//! A server with a good tool, and tools whose results cost more than any budget.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult,
    PaginatedRequestParams, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use toolbond_harness::hostile::{self, End};

/// The most bytes of a schema, and of a value: beyond, what costs is carrying them.
const MOST: usize = 64 << 10;

/// The tools whose results are out of budget: each has its schema and its value from the hostile
/// corpus.
pub(crate) fn names() -> Vec<String> {
    cases().into_iter().map(|(name, ..)| name).collect()
}

/// Name, schema and value of each.
pub(crate) fn cases() -> Vec<(String, Map<String, Value>, Value)> {
    let plain = hostile::cases().into_iter().filter(|case| {
        case.ends == End::Unfinished && case.limits.is_empty() && !case.assert_formats
    });
    let small = plain.filter_map(|case| {
        let read = |value: Value| {
            let text = value.to_string();
            let is_small = text.len() <= MOST;
            // What is nested too deeply to be read is refused before it costs anything.
            is_small.then(|| serde_json::from_str::<Value>(&text).ok()).flatten()
        };
        let (schema, value) = (read(case.schema())?, read(case.instance())?);
        let Value::Object(schema) = schema else { return None };
        Some((case.name.replace('/', "_"), schema, value))
    });
    small.collect()
}

#[derive(Clone)]
pub(crate) struct Villain {
    tools: Arc<Vec<Tool>>,
    values: Arc<Vec<(String, Value)>>,
}

impl Villain {
    /// With the tool `good`, which gives `value`.
    pub(crate) fn beside(good: Tool, value: Value) -> Self {
        let any = Arc::new(Map::from_iter([("type".to_owned(), "object".into())]));
        let mut values = vec![(good.name.to_string(), value)];
        let mut tools = vec![good];
        for (name, schema, value) in cases() {
            let tool = Tool::new_with_raw(name.clone(), None, Arc::clone(&any));
            tools.push(tool.with_raw_output_schema(Arc::new(schema)));
            values.push((name, value));
        }
        Self { tools: Arc::new(tools), values: Arc::new(values) }
    }
}

impl ServerHandler for Villain {
    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let value = self.values.iter().find(|(name, _)| *name == request.name);
        let (_, value) = value.ok_or_else(|| ErrorData::invalid_params("no such tool", None))?;
        Ok(CallToolResult::structured(value.clone()).into())
    }
}
