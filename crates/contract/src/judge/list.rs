//! Judging a tool list.

use std::collections::HashSet;

use serde_json::Value;
use toolpact_schema::Pointer;

use super::{
    options::{JudgeOptions, Policy},
    tool,
};
use crate::{Action, Contract, Finding, json_type::kind, rules::tool_list::TOOL_LIST};

/// What a tool list comes to.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct JudgedTools {
    /// What came in, in the same shape, with the tools that stay; nothing where the list was
    /// refused, was no tool list, or was one tool that does not stay.
    pub list: Option<Value>,
    /// Where in what came in the tools are: the place of one tool is this, its index, and the
    /// pointer of the finding. The root for one tool.
    pub at: Pointer,
    /// The contracts of the tools that stay, in their order.
    pub contracts: Vec<Contract>,
    /// What there is to say: one finding at least for each tool, schema or member that does not
    /// leave as it came.
    pub findings: Vec<Finding>,
}

impl JudgedTools {
    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_error())
    }
}

/// Judges each tool of `list` alone.
///
/// `list` is a `tools/list` result (`{"tools": […]}`), a JSON-RPC response that holds one, an array
/// of tools, or one tool. Anything else gives one finding and nothing else. Members this crate does
/// not know leave as they came, in the order they came.
///
/// - A tool that cannot be used is dropped, mended, or has the list refused, as the [`Policy`] says.
/// - A tool whose output schema alone cannot be used stays without it; the same goes for an optional
///   member of the wrong type.
/// - Of several tools of one name the first usable one stays.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{JudgeOptions, judge_tools};
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
///     "error[null-keyword] bad #/inputSchema/required: expected the keyword left out, found null \
///      (the policy `repair` rewrites it); tool dropped"
/// );
/// ```
pub fn judge_tools(list: Value, options: &JudgeOptions) -> JudgedTools {
    let mut list = list;
    let mut judged = JudgedTools {
        list: None,
        at: Pointer::root(),
        contracts: Vec::new(),
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
    }
    judged
}

struct Judge<'a> {
    options: &'a JudgeOptions,
    taken: HashSet<String>,
    judged: &'a mut JudgedTools,
}

impl Judge<'_> {
    /// Judges one tool, and gives it back if it stays.
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
        Some(tool)
    }
}

fn is_tool(document: &Value) -> bool {
    document.as_object().is_some_and(|map| {
        !map.contains_key("tools") && (map.contains_key("inputSchema") || map.contains_key("name"))
    })
}

/// The tools of `document` and their place, or the place where they should be and what is wrong there.
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
