//! What was found of one server.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use toolbond_clients::Client;
use toolbond_contract::{Action, Severity};
use toolbond_guard::live::Listed;
use toolbond_targets::{Effect, LintFinding, LintOptions, lint_tools, rules, target};

/// The revision that clients of earlier ones do not speak.
const MODERN: &str = "2026-07-28";

/// What was found of one server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checkup {
    pub(crate) client: &'static str,
    pub(crate) file: String,
    pub(crate) server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    pub(crate) is_guarded: bool,
    pub(crate) state: State,
    /// Why it was not checked or does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The protocol revision that it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    /// What it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<usize>,
    pub(crate) problems: Vec<Problem>,
    /// What the guard does, or would do.
    pub(crate) guard: Vec<String>,
    /// What to do.
    pub(crate) advice: Vec<String>,
}

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// The client can use it.
    Works,
    /// The client can use it in part.
    Impaired,
    /// It gives no tools.
    Fails,
    /// It was not asked.
    Unchecked,
}

/// What is wrong with tools.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<&'static str>,
    /// The tools that it is about.
    pub(crate) tools: BTreeSet<String>,
    /// What is wrong, and what becomes of it.
    pub(crate) text: String,
}

impl Checkup {
    /// Judges what a server listed.
    pub(crate) fn judge(&mut self, client: &'static Client, listed: Listed) {
        let Listed { first, name, revision, noise, .. } = listed;
        self.tools = first["tools"].as_array().map(Vec::len);
        if let Some(line) = noise {
            self.problems.push(Problem::new(format!("prints a line that is no message: {line}")));
            self.advice
                .push("have it log to standard error; some clients fail on such lines".to_owned());
        }
        let needs_era = client.is_legacy && revision == MODERN && !self.is_guarded;
        if needs_era {
            let text =
                format!("speaks only {MODERN}, and {} offers none of its tools then", client.title);
            self.problems.push(Problem::new(text));
            self.guard.push(format!("translates between {MODERN} and the revision of the client"));
        }
        (self.name, self.revision) = (name, Some(revision));
        self.judge_tools(client, first);
        self.state = if self.problems.is_empty() { State::Works } else { State::Impaired };
        if needs_era || (self.tools == Some(0)) {
            self.state = State::Fails;
            if self.tools == Some(0) {
                self.reason = Some("lists no tools".to_owned());
            }
        }
    }

    fn judge_tools(&mut self, client: &'static Client, list: Value) {
        let mut options = LintOptions::default().server(self.server.as_str());
        if let Ok(target) = target(client.name) {
            options = options.targets([target]);
        }
        let report = lint_tools(list, &options);
        for found in &report.findings {
            self.add(found);
        }
        let mut does = |action: Action, text: &str| {
            let of_it = report.judged.findings.iter().filter(|it| it.action == action);
            let tools: BTreeSet<_> = of_it.map(|it| it.index).collect();
            match tools.len() {
                0 => {}
                1 => self.guard.push(format!("{text} 1 tool")),
                count => self.guard.push(format!("{text} {count} tools")),
            }
        };
        does(Action::Repaired, "repairs");
        does(Action::Converted, "converts the schemas of");
        does(Action::MemberDropped, "removes an unusable member of");
        does(Action::ToolDropped, "leaves out");
        if !self.guard.is_empty() && !self.is_guarded && client.name != "other" {
            self.advice.push(format!("toolbond wrap {} {}", client.name, self.server));
        }
        let rules: BTreeSet<_> = self.problems.iter().filter_map(|it| it.rule).collect();
        if let Some(rule) = rules.first() {
            self.advice.push(format!("toolbond explain {rule}"));
        }
    }

    /// Adds a finding to those of its rule, if it keeps the client from using a tool.
    fn add(&mut self, found: &LintFinding) {
        let main = found.impacts.iter().filter(|impact| impact.with.is_none());
        let worst = main.max_by_key(|impact| impact.effect);
        let worst = worst.filter(|impact| impact.effect >= Effect::CallFails);
        if worst.is_none() && found.finding.severity < Severity::Error {
            return;
        }
        let rule = found.finding.rule;
        let tool = found.finding.tool.clone();
        if let Some(known) = self.problems.iter_mut().find(|it| it.rule == Some(rule)) {
            known.tools.extend(tool);
            return;
        }
        let summary = rules().find(|one| one.id == rule).map_or("", |rule| rule.summary());
        let text = match worst {
            Some(impact) => {
                format!("{summary} {}: {}", capitalised(impact.effect.words()), impact.note)
            }
            None => summary.to_owned(),
        };
        self.problems.push(Problem { rule: Some(rule), tools: tool.into_iter().collect(), text });
    }
}

impl Problem {
    fn new(text: String) -> Self {
        Self { rule: None, tools: BTreeSet::new(), text }
    }
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect()
}
