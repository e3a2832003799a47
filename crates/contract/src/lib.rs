//! Tool contracts: judging, projecting and lifting MCP tools and results.

mod contract;
mod error;
mod finding;
mod input;
mod json_type;
mod judge;
mod output;
mod repair;
mod rules;
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
pub use rules::{Rule, rule, rules};
pub use toolpact_schema::Pointer;
