//! Results that break the output schema of their tool, under `repair`: the model gets the data all the same.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolbond_contract::{
    Contract, Finding, JudgedCall, Mode, Outcome, Structured,
    arguments::{Change, large_integers},
    results::{RepairedResult, ResultTerms},
    rules::{RESULT_INVALID, RESULT_MISSING},
};

use super::result::{CheckedResult, ResultCheck};
use super::shape::{told_error, without_marker};
use crate::environment::Record;
use crate::json::change::change_text;
use crate::json::edit::{Span, apply, minify, patch_value};
use crate::json::members::entries;
use crate::json::scan::elements;
use crate::json::strict;

/// What an error says first that takes the place of a result.
const RAN: &str = "the tool ran; do not repeat the call";

/// The rules whose findings are about the output schema.
const ABOUT_SCHEMA: [&str; 2] = [RESULT_INVALID.id, RESULT_MISSING.id];

/// The most bytes that an error has beside its content and the other members of the result.
const WRITTEN: usize = 64;

/// The most bytes that are written to repair a result change by change. Beyond that the content is written once.
const MAX_WRITTEN: usize = 64 << 20;

impl ResultCheck<'_> {
    /// What the client gets of a result that was judged under `repair`.
    pub(super) fn mend(
        self,
        text: &str,
        result: &Value,
        contract: &Contract,
        mut judged: JudgedCall,
    ) -> CheckedResult {
        let repaired = judged.repaired_result.take();
        let is_wrong = matches!(judged.outcome, Outcome::Repaired | Outcome::Invalid);
        let is_valid = if is_wrong { self.is_valid_for_client(result, contract) } else { None };
        if is_valid == Some(true) {
            return self.passed(text, result);
        }
        match (judged.outcome, repaired) {
            (Outcome::Repaired, Some(repaired)) => {
                let Some((text, result)) = repair(text, result, &repaired) else {
                    let judged = contract.judge_result(result, ResultTerms::from(Mode::Warn));
                    return self.settle(text, result, contract, judged, is_valid);
                };
                self.conclude(judged);
                let passed = self.passed(&text, &result);
                CheckedResult { replacement: passed.replacement.or(Some(text)), ..passed }
            }
            (Outcome::Invalid, _) => self.settle(text, result, contract, judged, is_valid),
            _ => {
                self.conclude(judged);
                match contract.tell_error(result) {
                    // Clients of legacy revisions get it as text in any case.
                    Cow::Owned(told)
                        if self.revision.is_natural()
                            || !self.rules.settings.translate.revisions =>
                    {
                        let told = told_error(text, result, told);
                        if told.len() > self.most() {
                            return self.shaped(text, result);
                        }
                        CheckedResult { replacement: Some(told), ..CheckedResult::default() }
                    }
                    _ => self.shaped(text, result),
                }
            }
        }
    }

    /// Whether a result that breaks the author's schema is valid under the one that the client was given; `None` where that
    /// takes too many steps to find out.
    fn is_valid_for_client(self, result: &Value, contract: &Contract) -> Option<bool> {
        let Some(held) = self.held() else { return Some(false) };
        // `null` says that there is none.
        let content = Structured::from_result(result).value().filter(|content| !content.is_null());
        self.server.learned().accepts(held.learned.as_ref(), contract, content)
    }

    /// Decides about a result that breaks the schema, and learns from it. `is_valid` says whether it is valid under the
    /// schema that the client was given, if that is known.
    fn settle(
        self,
        text: &str,
        result: &Value,
        contract: &Contract,
        mut judged: JudgedCall,
        is_valid: Option<bool>,
    ) -> CheckedResult {
        let rule = judged.findings.first().map_or("", |finding| finding.rule);
        if !ABOUT_SCHEMA.contains(&rule) {
            self.conclude(judged);
            return self.shaped(text, result);
        }
        let mismatch = mismatch(&judged.findings);
        // `null` says that there is none.
        let content = Structured::from_result(result).value().filter(|content| !content.is_null());
        let table = self.server.learned();
        let known = table.get(contract).map(|(learned, _)| learned);
        let accepted = table.accepts(known.as_ref(), contract, content);
        // A server may break its schema in ever new ways: what is not learned has one line.
        let mut is_new = self.server.is_first(&(contract.name(), rule));
        if accepted == Some(false) {
            let learned = table.learn(contract, content);
            let record = Record::BrokenOutput { tool: contract.name(), learned: &learned };
            self.server.environment().record(&record);
            if let Some(finding) = judged.findings.first_mut() {
                finding.hint = Some(format!(
                    "from the next list on, clients get the tool {}",
                    match learned.relaxation() {
                        Some(_) => "with a relaxed output schema",
                        None => "without an output schema",
                    }
                ));
            }
            // What makes room for others is learned again.
            is_new |= self.server.is_first(&(contract.name(), rule, learned.times));
        }
        if is_new {
            self.conclude(judged);
        }
        let validates = self.held().is_some_and(|held| held.is_listed && held.is_validated);
        if !validates || is_valid != Some(false) {
            return self.passed(text, result);
        }
        if let Some(span) = self.span {
            span.set_tool_error();
        }
        let replacement = as_error(text, &mismatch, self.most());
        CheckedResult { replacement, ..CheckedResult::default() }
    }

    /// Passes a result that broke the schema, or was repaired. Its data is there as text where the model reads only that,
    /// and no `null` takes the place of text for a client that has no schema.
    fn passed(self, text: &str, result: &Value) -> CheckedResult {
        let changed = self.held().and_then(|held| match &held.learned {
            Some(learned)
                if result[Structured::KEY].is_null() && learned.relaxation().is_none() =>
            {
                without_null(text, result)
            }
            _ if held.is_read_as_text => {
                let (text, result) = with_data(text, result)?;
                (text.len() <= self.most()).then_some((text, result))
            }
            _ => None,
        });
        let Some((text, result)) = changed else { return self.shaped(text, result) };
        let shaped = self.shaped(&text, &result);
        CheckedResult { replacement: shaped.replacement.or(Some(text)), ..shaped }
    }
}

/// `result`, whose text is `text`, without the structured content `null`; `None` where there is no other content.
fn without_null(text: &str, result: &Value) -> Option<(String, Value)> {
    let mut left = result.clone();
    left.as_object_mut()?.shift_remove(Structured::KEY)?;
    let has_content = left["content"].as_array().is_some_and(|content| !content.is_empty());
    has_content.then(|| (patch_value(text, result, &left), left))
}

/// `result`, whose text is `text`, with its data as one more text block; `None` where a text block says it, or there is
/// none.
fn with_data(text: &str, result: &Value) -> Option<(String, Value)> {
    let members = entries(text)?;
    let member = |key: &str| members.iter().find(|(name, ..)| name == key).map(|(.., it)| *it);
    let (content, data) = (member("content")?, member(Structured::KEY)?);
    let blocks = elements(content)?;
    if data == "null" || blocks.iter().any(|own| says(own, data)) {
        return None;
    }
    let block = json!({ "type": "text", "text": minify(data) });
    let at = Span::locate(text, content)?.end - 1;
    let comma = if blocks.is_empty() { "" } else { "," };
    let edit = (Span { start: at, end: at }, format!("{comma}{block}"));
    let text = apply(text, Span::from(0, text), vec![edit]).ok()?;
    let mut result = result.clone();
    result.get_mut("content")?.as_array_mut()?.push(block);
    Some((text, result))
}

/// `result`, whose text is `text`, with other structured content.
fn repair(text: &str, result: &Value, repaired: &RepairedResult) -> Option<(String, Value)> {
    let members = entries(text)?;
    let found = members.iter().find(|(name, ..)| name == Structured::KEY);
    let mut content = found.map_or("null", |(_, _, old)| old).to_owned();
    let mut changes = &repaired.changes[..];
    if text.len().saturating_mul(changes.len()) > MAX_WRITTEN {
        content = patch_value(&content, &strict::parse(&content).ok()?, &repaired.content);
        changes = &[];
    }
    for change in changes {
        content = match &change.change {
            // What is in the envelope keeps its text.
            Change::Replace { value, .. } if change.rule.id == "result-envelope" => {
                patch_value(&content, &strict::parse(&content).ok()?, value)
            }
            _ => change_text(&content, std::slice::from_ref(change))?,
        };
    }
    if strict::parse(&content).ok()? != repaired.content {
        return None;
    }
    let edit = match (found, members.last()) {
        (Some((_, _, old)), _) => (Span::locate(text, old)?, content),
        (None, last) => {
            let at = match last {
                Some((_, _, value)) => Span::locate(text, value)?.end,
                None => text.find('{')? + 1,
            };
            let comma = if last.is_some() { "," } else { "" };
            let member = format!("{comma}\"{}\":{content}", Structured::KEY);
            (Span { start: at, end: at }, member)
        }
    };
    let text = apply(text, Span::from(0, text), vec![edit]).ok()?;
    let mut result = result.clone();
    result.as_object_mut()?.insert(Structured::KEY.to_owned(), repaired.content.clone());
    Some((text, result))
}

/// What did not match, in one line.
fn mismatch(findings: &[Finding]) -> String {
    let Some(first) = findings.first() else { return String::new() };
    let mut line = format!("its result does not match its output schema: {}: ", first.pointer);
    line.push_str(&first.message);
    if let Some(found) = &first.found {
        line.push_str(", found ");
        line.push_str(found);
    }
    if findings.len() > 1 {
        line.push_str("; and more");
    }
    line.replace(['\n', '\r'], " ")
}

/// The result `text` as an error that says what did not match and holds the content of the server, and its data as text
/// unless a text block says it, or the error would have more than `most` bytes with it.
fn as_error(text: &str, mismatch: &str, most: usize) -> Option<String> {
    let block = |text: &str| json!({ "type": "text", "text": text }).to_string();
    let members = entries(text)?;
    let member = |key: &str| members.iter().find(|(name, ..)| name == key).map(|(.., it)| *it);
    let mut blocks = vec![block(&format!("{RAN}\n{mismatch}"))];
    let content = member("content").map_or(Some(Vec::new()), elements)?;
    blocks.extend(content.iter().map(|&own| own.to_owned()));
    if let Some(data) = member(Structured::KEY)
        && !content.iter().any(|own| says(own, data))
    {
        let added = block(&minify(data));
        // The structured content of the server goes.
        if text.len() - data.len() + blocks[0].len() + added.len() + WRITTEN <= most {
            blocks.push(added);
        }
    }
    let kept = members
        .iter()
        .filter(|(name, ..)| !["content", "isError", Structured::KEY].contains(&&**name));
    let mut out = format!("{{\"content\":[{}],\"isError\":true", blocks.join(","));
    for (_, name, value) in kept {
        out.push(',');
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    let value: Value = serde_json::from_str(&out).ok()?;
    Some(match without_marker(&value) {
        Cow::Owned(unmarked) => patch_value(&out, &value, &unmarked),
        Cow::Borrowed(_) => out,
    })
}

/// Whether the content block `own` is text that says `data`.
fn says(own: &str, data: &str) -> bool {
    let text =
        |own: &str| serde_json::from_str::<Value>(own).ok()?["text"].as_str().map(str::to_owned);
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    // A value that was read does not tell large integers apart.
    let is_exact = || large_integers(data).next().is_none();
    text(own).is_some_and(|text| text == data || (is_exact() && value(&text) == value(data)))
}
