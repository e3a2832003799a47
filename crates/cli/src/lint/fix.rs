//! Applies safe fixes to the text of a file.

use std::collections::BTreeMap;

use anyhow::Context as _;
use toolpact_contract::Pointer;
use toolpact_targets::{Edit, Fix, LintFinding};

use super::Linter;
use super::linter::tool_pointer;
use super::text_edit;
use crate::excerpt::Positions;
use crate::input::{Source, Syntax};

/// The most times that a file is fixed and checked again: a fix may make another one possible.
const MAX_ROUNDS: usize = 16;

/// One fix that was applied.
pub(crate) struct Fixed {
    pub(crate) rule: &'static str,
    pub(crate) tool: String,
    pub(crate) title: String,
}

/// Applies all safe fixes to the text of `source`, and returns them. YAML stays as it is.
pub(crate) fn fix_source(source: &mut Source, linter: &Linter<'_>) -> anyhow::Result<Vec<Fixed>> {
    let mut all = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let mut fixed = Vec::new();
        let mut texts = BTreeMap::new();
        for document in source.documents() {
            let Some((text, line)) = document.as_ref().ok().and_then(|d| Some((d.text?, d.line)))
            else {
                continue;
            };
            let document = document?;
            let report = linter.report(document.value, &document.name)?;
            let fixes = fixes_by_tool(&report.findings);
            if let Some(text) = fix_text(text, &report.judged.at, &fixes, &mut fixed) {
                texts.insert(line, text);
            }
        }
        if fixed.is_empty() {
            break;
        }
        source.text = replace_documents(source, texts);
        all.extend(fixed);
    }
    Ok(all)
}

/// The safe fixes, by the index of their tool. A fix that touches what an earlier one does is left for the next round.
fn fixes_by_tool(findings: &[LintFinding]) -> Vec<(Option<usize>, Vec<&LintFinding>)> {
    let mut tools: Vec<(Option<usize>, Vec<&LintFinding>)> = Vec::new();
    for found in findings {
        let Some(fix) = found.fix.as_ref().filter(|fix| fix.safe) else { continue };
        let index = found.finding.index;
        let at = tools.iter().position(|(tool, _)| *tool == index).unwrap_or(tools.len());
        if at == tools.len() {
            tools.push((index, Vec::new()));
        }
        let (_, taken) = &mut tools[at];
        if !taken.iter().filter_map(|one| one.fix.as_ref()).any(|other| overlap(fix, other)) {
            taken.push(found);
        }
    }
    tools
}

/// Whether two fixes touch the same place, or one touches a place within that of the other.
fn overlap(one: &Fix, other: &Fix) -> bool {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    one.edits.iter().any(|a| {
        let a = touched(a);
        other.edits.iter().map(touched).any(|b| within(a, b) || within(b, a))
    })
}

/// The place that an edit touches: all of an array whose element it removes.
fn touched(edit: &Edit) -> &str {
    let (Edit::Set { pointer, .. } | Edit::Remove { pointer }) = edit else { return "" };
    match (edit, pointer.as_str().rsplit_once('/')) {
        (Edit::Remove { .. }, Some((parent, last))) if last.parse::<usize>().is_ok() => parent,
        _ => pointer.as_str(),
    }
}

/// Applies the fixes to `text`, in which the tools stand at `at`. Returns `None` if nothing changed.
fn fix_text(
    text: &str,
    at: &Pointer,
    tools: &[(Option<usize>, Vec<&LintFinding>)],
    fixed: &mut Vec<Fixed>,
) -> Option<String> {
    if tools.is_empty() {
        return None;
    }
    let positions = Positions::parse("", text, 1);
    let mut changes = Vec::new();
    for (index, findings) in tools {
        let Some(range) = positions.range(&tool_pointer(at, *index)) else { continue };
        let mut tool = text[range.clone()].to_owned();
        for LintFinding { finding, fix, .. } in findings {
            let Some(fix) = fix else { continue };
            let Some(changed) = text_edit::apply(&tool, fix) else { continue };
            tool = changed;
            fixed.push(Fixed {
                rule: finding.rule,
                tool: finding.tool.clone().unwrap_or_default(),
                title: fix.title.clone(),
            });
        }
        changes.push((range, tool));
    }
    changes.sort_by_key(|(range, _)| range.start);
    let mut new = String::with_capacity(text.len());
    let mut end = 0;
    for (range, tool) in changes {
        new.push_str(&text[end..range.start]);
        new.push_str(&tool);
        end = range.end;
    }
    new.push_str(&text[end..]);
    (new != text).then_some(new)
}

/// The text of `source` with other documents at the given lines.
fn replace_documents(source: &Source, mut texts: BTreeMap<usize, String>) -> String {
    if source.syntax != Syntax::JsonLines {
        return texts.pop_first().map_or_else(|| source.text.clone(), |(_, text)| text);
    }
    let mut new = String::with_capacity(source.text.len());
    for (index, line) in source.text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\r', '\n']);
        match texts.remove(&(index + 1)) {
            Some(text) => {
                new.push_str(&text);
                new.push_str(&line[content.len()..]);
            }
            None => new.push_str(line),
        }
    }
    new
}

/// Writes the text of `source` back to its file.
pub(crate) fn write_back(source: &Source) -> anyhow::Result<()> {
    let mark = if source.has_mark { "\u{feff}" } else { "" };
    std::fs::write(&source.name, format!("{mark}{}", source.text))
        .with_context(|| source.name.clone())
}
