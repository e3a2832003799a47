//! Tool contracts: judging, projecting and lifting MCP tools and results.
//!
//! A [`Contract`] is a tool's name, input schema and optional output schema, admitted and compiled
//! once. [`judge_tools`] makes contracts of a tool list, each tool alone, so that one bad tool never
//! takes the others down; [`judge_arguments`] and [`judge_result`] hold calls to a contract. Whatever
//! they decide is a [`Finding`] under a [`Rule`], and every rule has a page ([`rules`]).
//! [`project_tool`] and [`project_result`] give each [`Revision`] the shape it can carry,
//! [`lift_tool`] and [`lift_result`] take it back.
//!
//! Everything works on `serde_json` values and keeps the order of members and the members it does not
//! know. There is no I/O in this crate.
//!
//! ```
//! use serde_json::json;
//! use toolpact_contract::{JudgeOptions, Mode, judge_arguments, judge_result, judge_tools};
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
//!     judged.findings[0].to_string(),
//!     "error[input-root] broken #/inputSchema: expected a schema (an object), found null \
//!      (the policy `repair` rewrites it); tool dropped"
//! );
//!
//! let forecast = &judged.contracts[0];
//! let call = judge_arguments(forecast, Some(&json!({ "town": "Bern" })), Mode::Enforce);
//! assert_eq!(
//!     call.refusal.unwrap()["content"][0]["text"],
//!     "invalid arguments for tool `forecast`:\n#: missing required property `city`"
//! );
//! let result = json!({ "content": [], "structuredContent": [68, 72] });
//! assert!(judge_result(forecast, &result, Mode::Enforce).findings.is_empty());
//! ```
//!
//! # The order: lift, judge, project
//!
//! A contract is about the natural shape. Whoever stands between a server and a client lifts what the
//! server sends, judges it, and projects it to the revision of the client last:
//!
//! ```text
//! tools/list   server ──▶ lift_tool ──▶ judge_tools ──▶ project_tool ──▶ client
//! tools/call   server ──▶ lift_result ──▶ judge_result ──▶ send_result ──▶ client
//! ```
//!
//! In another order a right result in its envelope breaks the natural schema, and a schema within the
//! limits can be beyond them, for projecting makes it larger. A result is lifted by the [`Form`] that
//! lifting its tool gave, and sent by the one that projecting it gave.
//!
//! ```
//! use serde_json::json;
//! use toolpact_contract::{
//!     JudgeOptions, Mode, Outcome, Revision, judge_result, judge_tools, lift_result, lift_tool,
//!     project_tool, send_result, send_result_owned,
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
//! assert_eq!(judge_result(contract, &result, Mode::Enforce).outcome, Outcome::Valid);
//! let sent = send_result(&result, projected.form, &legacy)?;
//! assert_eq!(sent["structuredContent"], json!({ "result": 72 }));
//! assert_eq!(sent["content"][0]["text"], "72");
//! # Ok::<(), toolpact_contract::ProjectError>(())
//! ```

mod contract;
mod error;
mod finding;
mod input;
mod json_type;
mod judge;
mod output;
mod project;
mod repair;
mod revision;
mod rules;
mod structured;
mod subschemas;

pub use contract::{Contract, Digest};
pub use error::{ContractError, ContractErrorKind};
pub use finding::{Action, Finding, Severity, Side};
pub use input::InputSchema;
pub use judge::{
    JudgeOptions, JudgedCall, JudgedTools, Mode, Outcome, Policy, UnknownName, judge_arguments,
    judge_arguments_within, judge_result, judge_result_within, judge_tools, tool_error,
};
pub use output::OutputSchema;
pub use project::{
    Form, Formats, MARKER, MAX_DEPTH, MAX_POINTER_BYTES, MAX_PROJECTED_DEPTH, MAX_URI_BYTES,
    Nullable, ProjectError, ProjectErrorKind, Projection, Shaped, Unmarked, lift_result, lift_tool,
    mirror_result, project_result, project_tool, send_result, send_result_owned, send_structured,
};
pub use revision::Revision;
pub use rules::{Rule, rule, rules};
pub use structured::Structured;
pub use toolpact_schema::Pointer;
