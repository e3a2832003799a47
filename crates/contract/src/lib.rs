//! Tool contracts: judging, projecting and lifting MCP tools and results.

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
    Form, Formats, MARKER, MAX_DEPTH, Nullable, ProjectError, ProjectErrorKind, Projection, Shaped,
    Unmarked, lift_result, lift_tool, mirror_result, project_result, project_tool, send_result,
};
pub use revision::Revision;
pub use rules::{Rule, rule, rules};
pub use structured::Structured;
pub use toolpact_schema::Pointer;
