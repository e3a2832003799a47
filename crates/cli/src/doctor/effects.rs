//! What the guard makes of a tool list.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolbond_contract::{
    Action, JudgeOptions, Policy, Revision, convert_tool, judge_tools, project_tool,
};

use crate::lint::plural;

/// What the guard makes of a tool list.
pub(super) struct Effects {
    /// The list that clients get.
    pub(super) list: Value,
    /// What it does, in words that follow "would".
    pub(super) does: Vec<String>,
}

impl Effects {
    /// What it makes of `list` for a client that speaks `revision`.
    pub(super) fn on(list: Value, revision: &Revision) -> Self {
        let options = JudgeOptions::default().policy(Policy::Repair).ignore_headers(true);
        let judged = judge_tools(list, &options);
        let of = |action: Action| {
            let of_it = judged.findings.iter().filter(move |it| it.action == action);
            of_it.map(|it| it.index).collect::<BTreeSet<_>>()
        };
        let (mut converted, mut reshaped) = (0, 0);
        let mut tools = Vec::new();
        for contract in &judged.contracts {
            let tool = Value::from(contract.tool().clone());
            let of_2020_12 = convert_tool(&tool).tool;
            converted += usize::from(matches!(of_2020_12, Cow::Owned(_)));
            let shaped = project_tool(&of_2020_12, revision);
            let shaped = shaped.map(|it| it.tool).unwrap_or(Cow::Borrowed(&*of_2020_12));
            reshaped += usize::from(matches!(shaped, Cow::Owned(_)));
            tools.push(shaped.into_owned());
        }
        let counts = [
            ("repair", of(Action::Repaired).len()),
            ("convert the schemas of", converted),
            ("adapt the output schema of", reshaped),
            ("remove an unusable member of", of(Action::MemberDropped).len()),
            ("leave out", of(Action::ToolDropped).len()),
        ];
        let does = counts.into_iter().filter(|(_, count)| *count > 0);
        let does = does.map(|(what, count)| format!("{what} {}", plural(count, "tool")));
        Self { does: does.collect(), list: json!({ "tools": tools }) }
    }
}
