//! MCP tools that keep to their own schemas, on top of `rmcp`, the official SDK.
//!
//! A whole server:
//!
//! ```no_run
//! #[derive(Clone)]
//! struct Weather;
//!
//! #[toolbond::tools]
//! impl Weather {
//!     /// Hourly temperatures of a city.
//!     #[tool]
//!     fn forecast(&self, city: String, #[schemars(range(max = 24))] hours: u8) -> Vec<f64> {
//!         vec![if city == "Oslo" { 2.5 } else { 20.5 }; hours.into()]
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), toolbond::ServeError> {
//!     toolbond::serve_cli(Weather).await
//! }
//! ```
//!
//! Parameters become the input schema, the return type becomes the output schema, doc comments become descriptions.
//! Arguments and results are validated with limited fuel. Every client gets results in the form that its protocol
//! revision allows.
//!
//! | I want to … | use |
//! | --- | --- |
//! | turn methods into tools | [`#[toolbond::tools]`](tools) |
//! | put an existing `rmcp` server behind the contract of its tools | [`enforce`] |
//! | run a server as a program, with its command line and log | [`serve_cli`] |
//! | serve from a program that has its own | [`serve_stdio`], [`Http`] |
//! | call tools | [`Client`] |
//! | see in a test what clients of each revision see | [`testing`] |
//!
//! # Parameters
//!
//! | parameter | meaning |
//! | --- | --- |
//! | with a name, of a type that is `Deserialize` and `JsonSchema` | one argument; optional if it is an `Option` or has `#[serde(default)]` |
//! | `Args(all): Args<T>` | all arguments as one value, except those that other parameters name |
//! | of a type that is [`FromContext`], such as [`Context`], [`CancellationToken`], [`Progress`] or [`Answers`] | a part of the request |
//!
//! Attributes of `serde` and `schemars` on a parameter work as on a field. `#[schemars(extend("x-mcp-header" =
//! "Region"))]` makes clients repeat the argument in an HTTP header.
//!
//! # Return types
//!
//! | return type | result |
//! | --- | --- |
//! | any type that is `Serialize` and `JsonSchema` | structured content, with its schema as the output schema |
//! | [`Text`], `ContentBlock`, `Vec<ContentBlock>`, `CallToolResult`, `CallToolResponse`, `()` | content without an output schema |
//! | `(Vec<ContentBlock>, T)` | content and structured content |
//! | [`Reply<T>`](Reply) | structured content, or a request for input |
//! | `Result` of one of these | the same, or a tool error: [`ToolError`], text, or any error, also boxed or of `anyhow`. `ErrorData` becomes a protocol error. |
//!
//! # Attributes
//!
//! `#[tool(…)]` takes `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `icon` (a
//! URI, or `icon(src = "…", mime_type = "…", sizes = "48x48 96x96")`) and `meta` (a JSON object as text). Mistakes are
//! compile errors. [`tools`] lists the attributes of the block, and [`Toolbox`] shows how to add prompts or resources.
//!
//! # Re-exported crates
//!
//! [`rmcp`] and [`schemars`] are the versions that this crate is built on, [`contract`] and [`schema`] are
//! `toolbond-contract` and `toolbond-schema`; with their features, `targets` is `toolbond-targets` and `fetch`
//! `toolbond-fetch`:
//!
//! ```
//! use toolbond::{rmcp::ErrorData, schemars::JsonSchema};
//!
//! #[derive(JsonSchema)]
//! #[schemars(crate = "toolbond::schemars")]
//! struct City {
//!     name: String,
//! }
//!
//! let error = ErrorData::invalid_params("no such city", None);
//! assert_eq!(toolbond::schemars::schema_for!(City).get("type").unwrap(), "object");
//! # assert_eq!(error.message, "no such city");
//! ```

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod check;
#[cfg(feature = "client")]
mod client;
mod enforce;
mod fetched;
mod options;
mod protocol;
mod report;
#[cfg(feature = "serve")]
mod serve;
pub mod testing;
mod text;
mod tools;
mod trace;
mod views;

#[cfg(feature = "client")]
pub use client::{Client, ClientError};
pub use enforce::{Enforced, enforce, enforce_with};
#[cfg(feature = "client")]
pub use options::ClientOptions;
pub use options::ServerOptions;
pub use rmcp;
pub use schemars;
#[cfg(feature = "serve")]
pub use serve::{Http, ServeError, serve_stdio, serve_stdio_with};
#[cfg(feature = "cli")]
pub use serve::{serve_cli, serve_cli_with};
pub use tokio_util::sync::CancellationToken;
pub use toolbond_contract as contract;
pub use toolbond_contract::{
    Contract, Finding, Mode, Policy, Projection, Repairs, Revision, Severity, project::Unmarked,
};
#[cfg(feature = "fetch")]
pub use toolbond_fetch as fetch;
pub use toolbond_macros::tools;
pub use toolbond_schema as schema;
pub use toolbond_schema::Limits;
#[cfg(feature = "targets")]
pub use toolbond_targets as targets;
#[cfg(feature = "targets")]
pub use toolbond_targets::ViewFor;
#[cfg(feature = "otel")]
pub use toolbond_telemetry::{Telemetry, opentelemetry};
pub use tools::{
    Answers, Args, Context, FromContext, Progress, Reply, Text, ToolError, Toolbox, Tools,
};

#[cfg(feature = "otel")]
pub use trace::export_from_env;

/// The Rust code of the README and of the guides, as documentation tests.
#[cfg(doctest)]
#[allow(rustdoc::invalid_codeblock_attributes, reason = "`title` names the file of a block")]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/rust-servers.md")]
    struct RustServers;
    #[cfg(feature = "otel")]
    #[doc = include_str!("../../../docs/telemetry.md")]
    struct TelemetryGuide;
    #[doc = include_str!("../../../docs/validator.md")]
    struct Validator;
}
