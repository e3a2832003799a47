//! Checks one list.

use anyhow::bail;
use serde_json::Value;
use toolbond_contract::{Pointer, rules::TOOL_LIST};
use toolbond_targets::{LintOptions, LintReport, compare_order, lint_tools};

use super::call::check_results;
use super::list::{LintedList, Reported};
use super::text_edit::{self, Replacement};
use crate::excerpt::Positions;
use crate::input::Document;

/// Checks one list.
pub(crate) struct Linter<'a> {
    pub(crate) options: &'a LintOptions,
    /// Whether to keep the list with the tools that are kept.
    pub(crate) keeps_list: bool,
}

impl Linter<'_> {
    /// Checks the tools of `document`. Fails if it is not a tool list.
    pub(crate) fn lint(&self, mut document: Document<'_>) -> anyhow::Result<LintedList> {
        let order = document.second.and_then(|second| compare_order(&document.value, &second));
        let order = order.filter(|found| self.options.includes(&found.finding));
        let LintReport { judged, tools, findings, .. } =
            self.report(document.value.take(), &document.name)?;
        let mut findings: Vec<_> = findings.into_iter().chain(order).map(Reported::new).collect();
        let results = &document.results;
        findings.extend(check_results(results, &tools, &judged.contracts, self.options));
        if let Some(text) = document.text.filter(|_| !findings.is_empty()) {
            let positions = Positions::parse(&document.source, text, document.line);
            locate(&positions, text, &judged.at, &mut findings);
        }
        let kept = judged.contracts.iter();
        Ok(LintedList {
            file: document.is_file.then_some(document.source),
            name: document.name,
            tools,
            kept: kept.map(|tool| (tool.name().to_owned(), tool.digest().to_string())).collect(),
            list: judged.list.filter(|_| self.keeps_list),
            findings,
        })
    }

    /// Checks the tools of `list`, which is called `name`.
    pub(crate) fn report(&self, list: Value, name: &str) -> anyhow::Result<LintReport> {
        let report = lint_tools(list, self.options);
        let is_other = |one: &toolbond_targets::LintFinding| one.finding.rule == TOOL_LIST.id;
        if let Some(other) = report.findings.iter().find(|one| is_other(one)) {
            bail!("{name}: {}: {}", other.finding.pointer, other.finding.message);
        }
        Ok(report)
    }
}

/// The most bytes of tools that are parsed again to find out how fixes change them.
const MAX_REPARSED: usize = 64 << 20;

/// Finds the places of `findings` in the text, and how their fixes change it.
fn locate(positions: &Positions<'_>, text: &str, at: &Pointer, findings: &mut [Reported]) {
    let mut reparsed = 0;
    for reported in findings {
        let tool = tool_pointer(at, reported.finding.finding.index);
        reported.position = positions.line_column(&tool.concat(reported.pointer()));
        let Some(fix) = &reported.finding.fix else { continue };
        let Some(range) = positions.range(&tool) else { continue };
        reparsed += range.len();
        if reparsed <= MAX_REPARSED {
            let edit = text_edit::apply(&text[range.clone()], fix);
            reported.replacement = edit.map(|after| {
                Replacement::between(&text[range.clone()], &after).located(positions, range.start)
            });
        }
    }
}

/// The place of the tool at `index` in the document.
fn tool_pointer(at: &Pointer, index: Option<usize>) -> Pointer {
    index.map_or_else(|| at.clone(), |index| at.join(index))
}
