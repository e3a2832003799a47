//! Applies safe fixes to the text of a file.

use std::collections::BTreeMap;

use std::path::Path;

use toolbond_contract::Pointer;
use toolbond_targets::LintReport;

use super::Linter;
use super::text_edit;
use crate::excerpt::Positions;
use crate::input::{Source, Syntax};
use crate::replace::replace;

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
        // What cannot be parsed is reported when it is checked.
        for document in source.documents().filter_map(Result::ok) {
            let Some(text) = document.text else { continue };
            let report = linter.report(document.value, &document.name)?;
            if let Some(text) = fix_text(text, &report, &mut fixed) {
                texts.insert(document.line, text);
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

/// Applies the safe fixes of `report` to `text`. Returns `None` if nothing changed.
fn fix_text(text: &str, report: &LintReport, fixed: &mut Vec<Fixed>) -> Option<String> {
    let mut by_tool: BTreeMap<Pointer, Vec<_>> = BTreeMap::new();
    for (at, found, fix) in report.safe_fixes() {
        by_tool.entry(at).or_default().push((&found.finding, fix));
    }
    if by_tool.is_empty() {
        return None;
    }
    let positions = Positions::parse("", text, 1);
    let mut changes = Vec::new();
    for (at, fixes) in by_tool {
        let Some(range) = positions.range(&at) else { continue };
        let mut tool = text[range.clone()].to_owned();
        for (finding, fix) in fixes {
            let Some(after) = text_edit::apply(&tool, fix) else { continue };
            tool = after;
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

/// Writes the text of `source` back to its file at `path`.
pub(crate) fn write_back(source: &Source, path: &Path) -> anyhow::Result<()> {
    let mark = if source.has_mark { "\u{feff}" } else { "" };
    replace(path, format!("{mark}{}", source.text).as_bytes())
}
