//! Judging tool lists, arguments and results.

mod arguments;
mod call;
mod example;
mod list;
mod model_text;
mod options;
mod result;
mod selection;
mod settle;
mod tool;

pub use call::{CallCheck, JudgedCall, Outcome, tool_error};
pub use list::{JudgedTools, judge_tools};
pub use options::JudgeOptions;
pub use selection::{RuleSelectionError, Selection, find_rule};
