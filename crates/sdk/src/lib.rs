//! A contract layer over `rmcp` servers and clients.
//!
//! [`enforce`] puts any [`rmcp::ServerHandler`] behind the contract of its own tools: tools are judged
//! before they are listed, arguments and results are validated under a budget, and every client gets the
//! shape its protocol revision can carry. Everything else passes through.
//!
//! ```
//! use rmcp::ServerHandler;
//!
//! #[derive(Clone)]
//! struct Weather;
//!
//! impl ServerHandler for Weather {}
//!
//! let server = toolpact::enforce(Weather);
//! // Served like any other handler: `server.serve(stdio())`, or `StreamableHttpService::new(…)`.
//! # fn is_handler(_: impl ServerHandler) {}
//! # is_handler(server);
//! ```
//!
//! # Methods that are tools
//!
//! [`tools`] makes methods the tools of a server. Parameters are the input schema, the return type is the
//! output schema, doc comments are the descriptions:
//!
//! ```
//! use toolpact::{Revision, ToolError, testing};
//!
//! #[derive(Clone)]
//! struct Weather;
//!
//! #[toolpact::tools]
//! impl Weather {
//!     /// Hourly temperatures of a city.
//!     #[tool(read_only)]
//!     async fn forecast(
//!         &self,
//!         /// City name.
//!         city: String,
//!         #[schemars(range(min = 1, max = 24))] hours: Option<u8>,
//!     ) -> Result<Vec<f64>, ToolError> {
//!         if city.is_empty() {
//!             return Err(ToolError::new("name a city"));
//!         }
//!         Ok(vec![68.0; hours.unwrap_or(2).into()])
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), testing::TestError> {
//! let client = testing::connect(toolpact::enforce(Weather), Revision::V2026_07_28).await?;
//! let result = client.call("forecast", serde_json::json!({ "city": "Bern", "hours": 30 })).await?;
//! assert_eq!(
//!     result["content"][0]["text"],
//!     "invalid arguments for tool `forecast`:\n#/hours: expected a number ≤ 24, found 30"
//! );
//! # Ok(()) }
//! ```
//!
//! | a parameter | is |
//! | --- | --- |
//! | with a name, of a type that is `Deserialize` and `JsonSchema` | an argument; not required if it is an `Option` or has `#[serde(default)]` |
//! | `Args(all): Args<T>` | all arguments as one value |
//! | of a type that is [`FromContext`], such as [`Context`], [`CancellationToken`] or [`Answers`] | a part of the request |
//!
//! | a return type | gives |
//! | --- | --- |
//! | any that is `Serialize` and `JsonSchema` | structured content, with its schema |
//! | [`Text`], `ContentBlock`, `Vec<ContentBlock>`, `CallToolResult`, `CallToolResponse`, `()` | content without an output schema |
//! | `(Vec<ContentBlock>, T)` | content and structured content |
//! | [`Reply<T>`](Reply) | structured content, or a question to the client first |
//! | `Result` of one of these | the same, or a tool error: [`ToolError`], a text, or any error, also boxed or of `anyhow`; `ErrorData` is a protocol error |
//!
//! `#[tool(…)]` takes `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `icon`
//! (a URI, or `icon(src = "…", mime_type = "…", sizes = "48x48 96x96")`) and `meta` (a JSON object as text); `#[toolpact::tools(…)]` takes `name`, `version` and `instructions` of the server, and
//! `tools_only` where the type implements `ServerHandler` itself (see [`Toolbox`]).
//! `#[schemars(extend("x-mcp-header" = "Region"))]` on a parameter has clients repeat it in a header. Mistakes are
//! compile errors.
//!
//! [`rmcp`] and [`schemars`] are here again under their names, so that a server need not name versions that fit, and
//! [`contract`] and [`schema`] are the crates `toolpact-contract` and `toolpact-schema`:
//!
//! ```
//! use toolpact::{rmcp::ErrorData, schemars::JsonSchema};
//!
//! #[derive(JsonSchema)]
//! #[schemars(crate = "toolpact::schemars")]
//! struct City {
//!     name: String,
//! }
//!
//! let error = ErrorData::invalid_params("no such city", None);
//! assert_eq!(toolpact::schemars::schema_for!(City).get("type").unwrap(), "object");
//! # assert_eq!(error.message, "no such city");
//! ```
//!
//! [`serve`] serves tools, [`Client`] calls them, [`testing`] shows what clients of each revision see of a server, in the same process.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod check;
#[cfg(feature = "client")]
mod client;
mod enforce;
mod protocol;
mod report;
#[cfg(feature = "serve")]
mod serve;
pub mod testing;
mod tools;

#[cfg(feature = "client")]
pub use client::{Client, ClientError};
pub use enforce::{Enforced, Options, enforce, enforce_with};
pub use rmcp;
pub use schemars;
#[cfg(feature = "serve")]
pub use serve::{Http, ServeError, serve, serve_stdio, serve_with};
pub use tokio_util::sync::CancellationToken;
pub use toolpact_contract as contract;
pub use toolpact_contract::{
    Contract, Finding, Mode, Policy, Projection, Revision, Severity, Unmarked,
};
pub use toolpact_macros::tools;
pub use toolpact_schema as schema;
pub use toolpact_schema::Limits;
pub use tools::{Answers, Args, Context, FromContext, Reply, Text, ToolError, Toolbox, Tools};
