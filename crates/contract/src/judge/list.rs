//! Judging a tool list.

use std::collections::HashSet;

use serde_json::Value;
use toolbond_schema::Pointer;

use super::{options::JudgeOptions, tool};
use crate::{Action, Contract, Finding, Policy, json_type::kind, rules::tool_list::TOOL_LIST};

/// A tool list after judgement.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct JudgedTools {
    /// The document with only the tools that stay. `None` if the list was refused, was not a tool list, or was a single
    /// tool that was dropped.
    pub list: Option<Value>,
    /// The place of the tools in the document. For a place in one tool, append the index of the tool and the pointer of
    /// the finding. This is the root for a single tool.
    pub at: Pointer,
    /// The contracts of the tools that stay, in their order.
    pub contracts: Vec<Contract>,
    /// The index of the tool of each contract in the list that was judged.
    pub indices: Vec<usize>,
    /// The findings: at least one for each tool, schema or member that was changed or dropped.
    pub findings: Vec<Finding>,
}

impl JudgedTools {
    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }
}

/// Judges each tool of `list` independently.
///
/// `list` is a `tools/list` result (`{"tools": […]}`), a JSON-RPC response with one, an array of tools, or a single
/// tool. Anything else gives one finding. Members that this crate does not know stay as they are, in the same order.
///
/// - If a tool is not usable, the [`Policy`] decides whether to drop it, to repair it, or to refuse the list.
/// - If only the output schema of a tool is not usable, the tool stays without it. The same applies to an optional
///   member of the wrong type.
/// - If several tools have the same name, the first usable one stays.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{JudgeOptions, judge_tools};
///
/// let judged = judge_tools(
///     json!({ "tools": [
///         { "name": "good", "inputSchema": { "type": "object" } },
///         { "name": "bad", "inputSchema": { "type": "object", "required": null } },
///     ], "nextCursor": "2" }),
///     &JudgeOptions::default(),
/// );
/// assert_eq!(judged.contracts.len(), 1);
/// assert_eq!(judged.list.unwrap(), json!({
///     "tools": [{ "name": "good", "inputSchema": { "type": "object" } }],
///     "nextCursor": "2"
/// }));
/// assert_eq!(
///     judged.findings[0].to_string(),
///     "error[null-keyword] bad #/inputSchema/required: expected the keyword to be omitted, found null \
///      (the policy `repair` rewrites it); tool dropped"
/// );
/// ```
pub fn judge_tools(list: Value, options: &JudgeOptions) -> JudgedTools {
    let mut list = list;
    let mut judged = JudgedTools {
        list: None,
        at: Pointer::root(),
        contracts: Vec::new(),
        indices: Vec::new(),
        findings: Vec::new(),
    };
    if is_tool(&list) {
        let mut judge = Judge { options, taken: HashSet::new(), judged: &mut judged };
        let kept = judge.tool(list, None);
        judged.list = kept;
    } else {
        let tools = match tools_mut(&mut list) {
            Ok((at, tools)) => {
                judged.at = at;
                tools
            }
            Err((at, message)) => {
                judged.findings.push(TOOL_LIST.finding(message).at(at));
                return judged;
            }
        };
        let mut judge = Judge { options, taken: HashSet::new(), judged: &mut judged };
        *tools = std::mem::take(tools)
            .into_iter()
            .enumerate()
            .filter_map(|(index, tool)| judge.tool(tool, Some(index)))
            .collect();
        judged.list = Some(list);
    }
    if options.policy == Policy::Reject && judged.errors().next().is_some() {
        for finding in judged.findings.iter_mut().filter(|finding| finding.is_error()) {
            finding.action = Action::ListRefused;
        }
        judged.list = None;
        judged.contracts.clear();
        judged.indices.clear();
    }
    judged.findings.retain(|finding| options.selection.includes(finding));
    judged
}

struct Judge<'a> {
    options: &'a JudgeOptions,
    taken: HashSet<String>,
    judged: &'a mut JudgedTools,
}

impl Judge<'_> {
    /// Judges one tool and returns it if it stays.
    fn tool(&mut self, tool: Value, index: Option<usize>) -> Option<Value> {
        let one = tool::judge(tool, self.options, &self.taken);
        for mut finding in one.findings {
            finding.index = index;
            self.judged.findings.push(finding);
        }
        let contract = one.contract?;
        self.taken.insert(contract.name().to_owned());
        let tool = contract.tool().clone().into();
        self.judged.contracts.push(contract);
        self.judged.indices.push(index.unwrap_or_default());
        Some(tool)
    }
}

fn is_tool(document: &Value) -> bool {
    document.as_object().is_some_and(|map| {
        !map.contains_key("tools") && (map.contains_key("inputSchema") || map.contains_key("name"))
    })
}

/// Returns the tools of `document` and their place, or the place where they should be and what is wrong there.
fn tools_mut(document: &mut Value) -> Result<(Pointer, &mut Vec<Value>), (Pointer, String)> {
    let mut at = Pointer::root();
    let mut here = document;
    for member in ["result", "tools"] {
        if here.get(member).is_some() {
            here = &mut here[member];
            at.push(member);
        }
    }
    let is_list = at.is_root() || at.as_str().ends_with("/tools");
    let found = kind(here);
    let message = match here {
        Value::Array(tools) if is_list => return Ok((at, tools)),
        Value::Object(map) if !is_list || at.is_root() => {
            if map.contains_key("error") {
                at.push("error");
                "expected a tool list, found an error".to_owned()
            } else {
                "expected a tool list, found an object without `tools`".to_owned()
            }
        }
        _ => format!("expected an array of tools, found {found}"),
    };
    Err((at, message))
}
