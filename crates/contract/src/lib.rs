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
    judge_result, judge_tools, tool_error,
};
pub use output::OutputSchema;
pub use project::{
    Form, Formats, MARKER, MAX_DEPTH, MAX_POINTER_BYTES, Nullable, ProjectError, ProjectErrorKind,
    Projection, Shaped, Unmarked, lift_result, lift_tool, mirror_result, project_result,
    project_tool, send_result,
};
pub use revision::Revision;
pub use rules::{Rule, rule, rules};
pub use structured::Structured;
pub use toolpact_schema::Pointer;
