//! What was found of one server.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use toolbond_clients::Client;
use toolbond_contract::{Revision, Severity};
use toolbond_guard::live::Listed;
use toolbond_targets::{Effect, LintFinding, LintOptions, lint_tools, rules, target};

use super::effects::Effects;

/// The revision that clients of earlier ones do not speak.
const MODERN: &str = "2026-07-28";

/// The newest revision that these clients speak.
const LEGACY: Revision = Revision::V2025_11_25;

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
    /// The tools that its guard leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// What a guard would do.
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
    pub(crate) fn judge(&mut self, client: &'static Client, listed: Listed, wrap: &str) {
        let Listed { first, name, revision, noise, .. } = listed;
        self.tools = first["tools"].as_array().map(Vec::len);
        let is_noisy = noise.is_some() && !self.is_guarded;
        if let Some(line) = noise {
            self.problems.push(Problem::new(format!("prints a line that is no message: {line}")));
            self.advice
                .push("have it log to standard error; some clients fail on such lines".to_owned());
        }
        if is_noisy {
            self.guard.push("drop lines that are no messages".to_owned());
        }
        let needs_era = client.is_legacy && revision == MODERN && !self.is_guarded;
        if needs_era {
            let text =
                format!("speaks only {MODERN}, and {} offers none of its tools then", client.title);
            self.problems.push(Problem::new(text));
            self.guard.push(format!("translate between {MODERN} and the revision of the client"));
        }
        // Of other clients it is not known; they are taken to speak that of the server.
        let spoken = if client.is_legacy { LEGACY } else { Revision::from(revision.as_str()) };
        (self.name, self.revision) = (name, Some(revision));
        let is_mended = self.judge_tools(client, first, &spoken);
        if !self.is_guarded && (is_mended || needs_era || is_noisy) {
            self.advice.push(wrap.to_owned());
        }
        let rules: BTreeSet<_> = self.problems.iter().filter_map(|it| it.rule).collect();
        if let Some(rule) = rules.first() {
            self.advice.push(format!("toolbond explain {rule}"));
        }
        let is_whole = self.problems.is_empty() && self.left_out.is_empty();
        self.state = if is_whole { State::Works } else { State::Impaired };
        if needs_era || (self.tools == Some(0)) {
            self.state = State::Fails;
            if self.tools == Some(0) {
                self.reason = Some("lists no tools".to_owned());
            }
        }
    }

    /// Notes which tools of `all` are not among those that are `left`.
    pub(crate) fn compare(&mut self, left: &Value, all: &Value) {
        let left: BTreeSet<_> = names(left).collect();
        self.left_out = names(all).filter(|name| !left.contains(name)).map(str::to_owned).collect();
    }

    /// Says what the client and a guard would make of `list`. Returns whether the guard would mend something.
    fn judge_tools(&mut self, client: &'static Client, list: Value, spoken: &Revision) -> bool {
        let mut options = LintOptions::default();
        if let Ok(target) = target(client.name) {
            options = options.targets([target]);
        }
        let unnamed = options.clone();
        let options = options.server(self.server.as_str());
        let found = lint_tools(list.clone(), &options).findings;
        let found: Vec<_> = found.iter().filter_map(|it| Some((it, problem(it)?))).collect();
        let of_tools = if found.is_empty() {
            BTreeSet::new()
        } else {
            problems(&lint_tools(list.clone(), &unnamed).findings)
        };
        for (found, text) in found {
            if of_tools.contains(&(found.finding.rule, found.finding.tool.clone())) {
                self.add(found, text);
            } else {
                self.add_of_name(found.finding.rule, &text);
            }
        }
        if self.is_guarded {
            return false;
        }
        let effects = Effects::on(list, spoken);
        self.guard.extend(effects.does);
        let guarded = lint_tools(effects.list, &options);
        let left = problems(&guarded.findings);
        self.problems.iter().any(|problem| {
            let rule = problem.rule.unwrap_or_default();
            problem.tools.iter().any(|tool| !left.contains(&(rule, Some(tool.clone()))))
        })
    }

    /// Adds that the name of the server breaks `rule`, whatever its tools are.
    fn add_of_name(&mut self, rule: &'static str, text: &str) {
        let text = format!("because of the name of the server: {text}");
        if !self.problems.iter().any(|known| known.text == text) {
            self.problems.push(Problem { rule: Some(rule), tools: BTreeSet::new(), text });
            self.advice.push("give the server another name in the configuration".to_owned());
        }
    }

    /// Adds a finding to those of its rule.
    fn add(&mut self, found: &LintFinding, text: String) {
        let rule = found.finding.rule;
        let tool = found.finding.tool.clone();
        if let Some(known) =
            self.problems.iter_mut().find(|it| it.rule == Some(rule) && !it.tools.is_empty())
        {
            known.tools.extend(tool);
            return;
        }
        self.problems.push(Problem { rule: Some(rule), tools: tool.into_iter().collect(), text });
    }
}

/// The findings that keep the client from using a tool, by rule and tool.
fn problems(findings: &[LintFinding]) -> BTreeSet<(&'static str, Option<String>)> {
    let found = findings.iter().filter(|found| problem(found).is_some());
    found.map(|it| (it.finding.rule, it.finding.tool.clone())).collect()
}

/// What `found` says, if it keeps the client from using a tool.
fn problem(found: &LintFinding) -> Option<String> {
    let main = found.impacts.iter().filter(|impact| impact.with.is_none());
    let worst = main.max_by_key(|impact| impact.effect);
    let worst = worst.filter(|impact| impact.effect >= Effect::CallFails);
    if worst.is_none() && found.finding.severity < Severity::Error {
        return None;
    }
    let summary = rules().find(|one| one.id == found.finding.rule).map_or("", |it| it.summary());
    Some(match worst {
        Some(impact) => {
            format!("{summary} {}: {}", capitalised(impact.effect.words()), impact.note)
        }
        None => summary.to_owned(),
    })
}

/// The names of the tools in `list`.
fn names(list: &Value) -> impl Iterator<Item = &str> {
    list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str())
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
