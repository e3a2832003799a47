//! Tool lists: judged, shaped for the client, and remembered.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolpact_contract::{
    Action, Contract, Finding, Form, Pointer, ProjectError, ProjectErrorKind, Revision, Shaped,
    judge_tools, lift_tool, project_tool, rule,
};

use crate::catalog::{Known, Page, Place};
use crate::inspector::{Ruling, lock};
use crate::judged::{self, Judgement};
use crate::message::object;
use crate::patch::{patch, splice};
use crate::status::Standing;
use crate::ward::Rules;
use crate::{Event, Inspector, Settings};

/// Why a tool is not offered.
pub(crate) const HIDDEN: &str = "its operator hides it";

/// A page of a tool list, as far as the guard looks at it.
#[derive(Deserialize)]
struct ListResult<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

/// The cursor to the page after `result`, as JSON.
pub(crate) fn next_cursor(result: &str) -> Option<String> {
    let list: ListResult<'_> = object(result).ok()?;
    list.next.map(|next| next.get().to_owned())
}

/// One tool of a page.
struct Entry<'a> {
    raw: &'a RawValue,
    value: Option<Value>,
}

impl Inspector {
    /// Judges a page of the tool list, remembers its tools, and says what the client gets.
    ///
    /// What is no list at all passes: the client knows what to say about it. One that two readers may
    /// read in two ways does not.
    pub(crate) fn list(&self, result: &str, place: Place, revision: &Revision) -> Ruling {
        let list = match object::<ListResult<'_>>(result) {
            Ok(list) => list,
            Err(_) if !result.starts_with('{') => return Ruling::Same,
            Err(error) => {
                let text = format!("the tool list of the server cannot be read: {error}");
                self.say(Event::error(format!("server: {text}")));
                return Ruling::Refused(text);
            }
        };
        let Some(tools) = list.tools else { return Ruling::Same };
        let rules = self.ward.rules();
        let Ok(raws) = serde_json::from_str::<Vec<&RawValue>>(tools.get()) else {
            let value = serde_json::from_str::<Value>(tools.get()).unwrap_or_default();
            for finding in judge_tools(json!({ "tools": value }), &rules.judging).findings {
                self.say_once(finding);
            }
            return Ruling::Same;
        };
        let entries: Vec<_> = raws
            .into_iter()
            .map(|raw| Entry { raw, value: serde_json::from_str(raw.get()).ok() })
            .collect();
        let generation = rules.generation;
        let bytes = tools.get().len();
        let page = Page { place, last: list.next.is_none(), bytes, generation };
        match self.judge_page(&rules, &entries, page, revision) {
            Verdict::Refused(message) => Ruling::Refused(message),
            Verdict::Kept(texts) => rewrite(result, tools.get(), &entries, texts),
        }
    }

    fn judge_page(
        &self,
        rules: &Rules,
        entries: &[Entry<'_>],
        page: Page,
        revision: &Revision,
    ) -> Verdict {
        let settings = &rules.settings;
        let judgements = judge_entries(rules, entries);
        self.count_tools(entries, &judgements, settings);
        if settings.tools.is_some() {
            let mut refusal = None;
            for (index, judgement) in judgements.iter().enumerate() {
                for finding in &judgement.findings {
                    let finding = at(finding, index);
                    if finding.action == Action::ListRefused && refusal.is_none() {
                        refusal = Some(finding.to_string());
                    }
                    self.say_once(finding);
                }
            }
            if judgements.iter().any(|judgement| judgement.refuses) {
                lock(&self.catalog).take(revision, page, []);
                let reason = refusal.unwrap_or_default();
                return Verdict::Refused(format!("tool list refused: {reason}"));
            }
        }
        let mut known = Vec::new();
        let mut texts = Vec::with_capacity(entries.len());
        let mut taken = HashSet::new();
        for (index, (entry, judgement)) in entries.iter().zip(&judgements).enumerate() {
            let name = entry.value.as_ref().and_then(|tool| tool["name"].as_str());
            if let Some(name) = name
                && settings.hides(name)
            {
                known.push((name.to_owned(), Known::Dropped(HIDDEN.into())));
                texts.push(None);
                continue;
            }
            let Some(contract) = &judgement.contract else {
                // A tool of this name that stays answers for it.
                if let (Some(name), Some(reason), true) =
                    (name, reason(judgement, index), settings.tools.is_some())
                    && !taken.contains(name)
                {
                    known.push((name.to_owned(), Known::Dropped(reason.into())));
                }
                let same = settings.tools.is_none();
                texts.push(same.then_some(Text::Same));
                continue;
            };
            taken.insert(contract.name().to_owned());
            let (text, form) = self.shape_tool(settings, contract, entry, revision);
            texts.push(Some(text));
            known.push((
                contract.name().to_owned(),
                Known::Kept { contract: contract.clone(), form },
            ));
        }
        lock(&self.catalog).take(revision, page, known);
        Verdict::Kept(texts)
    }

    /// Counts what became of each tool.
    fn count_tools(
        &self,
        entries: &[Entry<'_>],
        judgements: &[Arc<Judgement>],
        settings: &Settings,
    ) {
        for (entry, judgement) in entries.iter().zip(judgements) {
            let name = entry.value.as_ref().and_then(|tool| tool["name"].as_str());
            let Some(name) = name else { continue };
            let standing = match settings.tools {
                _ if settings.hides(name) => Standing::Dropped,
                Some(_) => Standing::of(&judgement.findings),
                None => Standing::Kept,
            };
            self.ward.status().listed(name, &judgement.findings, standing);
        }
    }

    /// The tool as the client gets it, and how its results travel.
    fn shape_tool(
        &self,
        settings: &Settings,
        contract: &Contract,
        entry: &Entry<'_>,
        revision: &Revision,
    ) -> (Text, Form) {
        let tool = match (&entry.value, settings.tools) {
            (Some(value), None) => value.clone(),
            _ => Value::Object(contract.tool().clone()),
        };
        let shaped = if !settings.project {
            Ok(Shaped { tool: Cow::Borrowed(&tool), form: Form::Natural })
        } else if revision.is_natural() {
            lift_tool(&tool, revision)
        } else {
            project_tool(&tool, revision)
        };
        let (tool, form) = match shaped {
            Ok(Shaped { tool: Cow::Owned(shaped), form }) => (shaped, form),
            Ok(Shaped { tool: Cow::Borrowed(_), form }) => (tool, form),
            Err(error) => {
                self.say_unshaped(contract.name(), &error);
                let mut tool = tool;
                if let Some(members) = tool.as_object_mut() {
                    members.shift_remove("outputSchema");
                }
                (tool, Form::Undeclared)
            }
        };
        let text = patch(entry.raw.get(), &tool);
        (if text == entry.raw.get() { Text::Same } else { Text::New(text) }, form)
    }

    /// Says that an output schema is left out, because no form of it is right for the client.
    fn say_unshaped(&self, tool: &str, error: &ProjectError) {
        let id = match error.kind {
            ProjectErrorKind::UnsupportedDialect { .. } => "schema-dialect",
            _ => "schema-limit",
        };
        if let Some(rule) = rule(id) {
            let place = Pointer::root().concat(&error.pointer);
            self.say_once(
                rule.finding(error.kind.to_string())
                    .tool(tool)
                    .at(place)
                    .action(Action::MemberDropped),
            );
        }
    }
}

/// What becomes of each tool; what was judged before is not judged again.
fn judge_entries(rules: &Rules, entries: &[Entry<'_>]) -> Vec<Arc<Judgement>> {
    let value = |entry: &Entry<'_>| entry.value.clone().unwrap_or_default();
    if judged::share_a_name(entries.iter().filter_map(|entry| entry.value.as_ref())) {
        let together = judged::judge(entries.iter().map(value).collect(), &rules.judging);
        return together.into_iter().map(Arc::new).collect();
    }
    let one = |entry: &Entry<'_>| {
        let text = entry.raw.get();
        if let Some(known) = lock(&rules.judged).of(text) {
            return Some(known);
        }
        let judgement = Arc::new(judged::judge(vec![value(entry)], &rules.judging).pop()?);
        lock(&rules.judged).add(text, Arc::clone(&judgement));
        Some(judgement)
    };
    entries.iter().filter_map(one).collect()
}

/// Why a tool does not stay.
fn reason(judgement: &Judgement, index: usize) -> Option<String> {
    let mut findings = judgement.findings.iter();
    let finding = findings.find(|finding| finding.action == Action::ToolDropped)?;
    Some(at(finding, index).to_string())
}

/// The finding, about the tool at `index`.
fn at(finding: &Finding, index: usize) -> Finding {
    let mut finding = finding.clone();
    finding.index = Some(index);
    finding
}

/// What becomes of a page.
enum Verdict {
    Refused(String),
    /// The text of each tool, none for those that are left out.
    Kept(Vec<Option<Text>>),
}

enum Text {
    Same,
    New(String),
}

fn rewrite(result: &str, tools: &str, entries: &[Entry<'_>], texts: Vec<Option<Text>>) -> Ruling {
    if texts.iter().any(Option::is_none) {
        let kept: Vec<_> = entries
            .iter()
            .zip(&texts)
            .filter_map(|(entry, text)| match text {
                Some(Text::Same) => Some(entry.raw.get()),
                Some(Text::New(text)) => Some(text),
                None => None,
            })
            .collect();
        let tools_text = format!("[{}]", kept.join(","));
        return Ruling::Replaced(splice(result, &[(tools, tools_text)]));
    }
    let edits: Vec<_> = entries
        .iter()
        .zip(texts)
        .filter_map(|(entry, text)| match text {
            Some(Text::New(text)) => Some((entry.raw.get(), text)),
            _ => None,
        })
        .collect();
    if edits.is_empty() { Ruling::Same } else { Ruling::Replaced(splice(result, &edits)) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolpact_contract::Revision;

    use crate::inspector::lock;
    use crate::{Event, Inspector, Settings};

    fn list(inspector: &Inspector, tools: &[&str]) {
        let result = format!("{{\"tools\":[{}]}}", tools.join(","));
        let place = lock(&inspector.catalog).asks(true);
        let _ = inspector.list(&result, place, &Revision::V2025_11_25);
    }

    #[test]
    fn a_tool_that_did_not_change_is_not_judged_again() {
        let inspector = Inspector::new(Settings::default(), Arc::new(|_: Event| {}));
        let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        let (a, b, bad) = (tool("a"), tool("b"), r#"{"name":"bad","inputSchema":{"$ref":"x:y"}}"#);
        let known =
            |inspector: &Inspector, text| lock(&inspector.ward.rules().judged).of(text).unwrap();
        list(&inspector, &[&a, bad]);
        let before = (known(&inspector, &a), known(&inspector, bad));
        assert!(before.0.contract.is_some() && before.1.contract.is_none());
        list(&Inspector::of(Arc::clone(&inspector.ward)), &[&b, &a, bad]);
        assert!(Arc::ptr_eq(&before.0, &known(&inspector, &a)));
        assert!(Arc::ptr_eq(&before.1, &known(&inspector, bad)));
        // Two of one name are judged together, and what comes of that is not kept.
        let twin = a.replace("object\"", "object\",\"title\":\"\"");
        list(&inspector, &[&twin, &a]);
        assert!(lock(&inspector.ward.rules().judged).of(&twin).is_none());
    }
}
