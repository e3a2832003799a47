//! An `rmcp` server that adopts toolbond: the lines marked with `+` are the whole difference.
//!
//! Run it with `cargo run -p toolbond --example adopt` and speak MCP to its standard input.

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use serde_json::json;
use toolbond::enforce; // +

/// A server as `rmcp` has them: a tool that returns a list, and nobody who checks it.
#[derive(Clone)]
struct Readings;

impl ServerHandler for Readings {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool: Tool = serde_json::from_value(json!({
            "name": "readings",
            "description": "The last readings.",
            "inputSchema": {
                "type": "object",
                "properties": { "count": { "type": "integer", "minimum": 1, "maximum": 10 } }
            },
            "outputSchema": { "type": "array", "items": { "type": "number" } }
        }))
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(json!([20.5, 21.0])).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = enforce(Readings); // + instead of `let server = Readings;`
    server.serve(stdio()).await?.waiting().await?;
    Ok(())
}
