//! Tool contracts: check MCP tools, arguments and results, and convert them between protocol revisions.
//!
//! A [`Contract`] is a tool's name, input schema and optional output schema, admitted and compiled once.
//!
//! - [`judge_tools`] compiles the contracts of a tool list. It judges each tool alone, so one bad tool never affects the
//!   others.
//! - [`Contract::judge_arguments`] and [`Contract::judge_result`] check calls.
//! - [`relax()`] finds what to change in an output schema that its server breaks, and [`Relaxation::apply`] changes it.
//! - [`project_tool`] and [`project_result`] give a tool or a result the shape that a [`Revision`] can carry.
//!   [`lift_tool`] and [`lift_result`] undo that.
//! - [`convert_tool`] gives clients the schemas of an older JSON Schema [`dialect`] as 2020-12. [`revert_tool`] undoes
//!   that.
//! - [`bundle::bundle`] makes one schema of a schema and the documents that it refers to.
//!
//! A problem is a [`Finding`] under a [`Rule`], and every rule has a page ([`rules()`]).
//!
//! This crate works on `serde_json` values. It keeps the order of members and the members that it does not know. It does
//! no I/O.
//!
//! ```
//! use serde_json::json;
//! use toolbond_contract::{JudgeOptions, Mode, Outcome, judge_tools};
//!
//! let judged = judge_tools(
//!     json!({ "tools": [
//!         { "name": "forecast", "inputSchema": { "type": "object", "required": ["city"] },
//!           "outputSchema": { "type": "array", "items": { "type": "number" } } },
//!         { "name": "broken", "inputSchema": null },
//!     ] }),
//!     &JudgeOptions::default(),
//! );
//! assert_eq!(
//!     judged.errors().next().unwrap().to_string(),
//!     "error[input-root] broken #/inputSchema: expected a schema (an object), found null \
//!      (the policy `repair` rewrites it); tool dropped"
//! );
//!
//! let forecast = &judged.contracts[0];
//! let call = forecast.judge_arguments(Some(&json!({ "town": "Bern" })), Mode::Enforce);
//! assert_eq!(
//!     call.refusal.unwrap()["content"][0]["text"],
//!     "invalid arguments for tool `forecast`:\nmissing required property `city`"
//! );
//! let result = json!({ "content": [], "structuredContent": [68, 72] });
//! assert_eq!(forecast.judge_result(&result, Mode::Enforce).outcome, Outcome::Valid);
//! ```
//!
//! # The order: lift, judge, project
//!
//! A contract describes the natural shape. A program between a server and a client lifts what the server sends, judges
//! it, and then projects it to the revision of the client:
//!
//! ```text
//! tools/list   server ──▶ lift_tool ──▶ judge_tools ──▶ project_tool ──▶ client
//! tools/call   server ──▶ lift_result ──▶ judge_result ──▶ project_result ──▶ client
//! ```
//!
//! Any other order fails: a valid result in its envelope breaks the natural schema, and a projected schema is larger, so
//! it can exceed the limits. Lift a result with the [`Form`] that lifting its tool returned, and project it with the form
//! that projecting its tool returned.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use serde_json::json;
//! use toolbond_contract::{
//!     JudgeOptions, Mode, Outcome, Revision, judge_tools, lift_result, lift_tool, project_result,
//!     project_tool,
//! };
//!
//! let legacy = Revision::V2025_11_25;
//! let received = json!({
//!     "name": "get_count",
//!     "inputSchema": { "type": "object" },
//!     "outputSchema": {
//!         "type": "object",
//!         "properties": { "result": { "type": "integer" } },
//!         "required": ["result"],
//!         "x-fastmcp-wrap-result": true
//!     }
//! });
//! let lifted = lift_tool(&received, &legacy)?;
//! let form = lifted.form;
//! let judged = judge_tools(lifted.tool.into_owned(), &JudgeOptions::default());
//! let contract = &judged.contracts[0];
//! assert_eq!(contract.value()["outputSchema"], json!({ "type": "integer" }));
//! let projected = project_tool(contract.value(), &legacy)?;
//!
//! let result = json!({ "content": [], "structuredContent": { "result": 72 } });
//! let result = lift_result(&result, form)?;
//! assert_eq!(result["structuredContent"], 72);
//! assert_eq!(contract.judge_result(&result, Mode::Enforce).outcome, Outcome::Valid);
//! let sent = project_result(result, projected.form, &legacy)?;
//! assert_eq!(sent["structuredContent"], json!({ "result": 72 }));
//! assert_eq!(sent["content"][0]["text"], "72");
//! # Ok::<(), toolbond_contract::ProjectError>(())
//! ```

#[macro_use]
mod rule;

pub mod arguments;
pub mod bundle;
mod catalog;
mod contract;
pub mod dialect;
#[cfg(feature = "digest")]
mod digest;
mod error;
mod finding;
pub mod headers;
mod json_type;
pub mod judge;
mod keyword;
mod mode;
pub mod project;
pub mod relax;
mod repair;
pub mod results;
mod revision;
mod role;
pub mod rules;
mod structured;
pub mod subschemas;
mod tool_schema;

pub use arguments::{ArgumentTerms, Repairs};
pub use catalog::{rule, rules};
pub use contract::Contract;
pub use dialect::{convert_tool, revert_tool};
#[cfg(feature = "digest")]
pub use digest::Digest;
pub use error::{ContractError, ContractErrorKind};
pub use finding::{Action, Finding, Severity, Side};
pub use judge::{JudgeOptions, JudgedCall, JudgedTools, Outcome, judge_tools};
pub use mode::{Mode, Policy, UnknownName};
pub use project::{
    Form, ProjectError, Projection, lift_result, lift_tool, project_result, project_tool,
};
pub use relax::{Relaxation, relax};
pub use results::ResultTerms;
pub use revision::Revision;
pub use role::Role;
pub use rule::Rule;
pub use structured::Structured;
pub use tool_schema::ToolSchema;
pub use toolbond_schema::Pointer;
