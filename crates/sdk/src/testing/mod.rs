//! Testing servers: a client of any protocol revision, in the same process and without sockets.
//!
//! [`connect`] runs a server and connects to it over a pipe in memory, with the same codec as over standard input and
//! output. [`TestClient::call`] returns what a tool returned,
//! [`TestClient::call_result`] and [`TestClient::request`] the JSON that the server sent.
//!
//! ```
//! # use rmcp::{ServerHandler, model::*, ErrorData, RoleServer, service::RequestContext};
//! # #[derive(Clone)] struct Counter;
//! # impl ServerHandler for Counter {
//! #     fn get_info(&self) -> ServerConfig {
//! #         ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
//! #     }
//! #     async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>)
//! #         -> Result<ListToolsResult, ErrorData> {
//! #         let tool = serde_json::from_value(serde_json::json!({
//! #             "name": "count", "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" }
//! #         })).unwrap();
//! #         Ok(ListToolsResult::with_all_items(vec![tool]))
//! #     }
//! #     async fn call_tool(&self, _: CallToolRequestParams, _: RequestContext<RoleServer>)
//! #         -> Result<CallToolResponse, ErrorData> {
//! #         Ok(CallToolResult::structured(serde_json::json!(42)).into())
//! #     }
//! # }
//! use serde_json::json;
//! use toolbond::{Revision, testing};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), testing::TestError> {
//! let server = toolbond::enforce(Counter);
//! let new = testing::connect(server.clone(), Revision::V2026_07_28).await?;
//! assert_eq!(new.call::<u8>("count", json!({})).await?, 42);
//!
//! // What a client of 2025-11-25 sees of the same tool.
//! let old = testing::connect(server, Revision::V2025_11_25).await?;
//! assert_eq!(old.call::<u8>("count", json!({})).await?, 42);
//! let result = old.call_result("count", json!({})).await?;
//! assert_eq!(result["structuredContent"], json!({ "result": 42 }));
//! # Ok(()) }
//! ```

mod client;
mod error;
mod pipe;
mod snapshot;

pub use client::{TestClient, connect, connect_as};
pub use error::TestError;
pub use snapshot::{list_tools, snapshot};
