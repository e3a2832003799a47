//! `--format full`: what happens to which tool at which target, then the findings by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use toolbond_contract::{Severity, Side};
use toolbond_targets::{Effect, LintOptions, rules};

use super::impacts::{ImpactGroup, describe_evidence, group_impacts, place, worst_impacts};
use super::list::{LintedList, Reported};
use super::matrix::{Matrix, effect_symbol};
use super::report::{Detail, Report, plural};
use super::statistics;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// The most places of a rule, unless all are asked for.
const MAX_PLACES: usize = 5;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if report.statistics {
        statistics::write(report, out)?;
        return write_totals(report, out);
    }
    let is_quiet = report.detail == Detail::Quiet;
    let is_single = report.lists.len() == 1;
    let mut fine = 0;
    for list in &report.lists {
        let has_shown = || list.new_findings().any(|found| report.shows(found.severity()));
        if is_quiet && has_shown() {
            write_groups(list, report, out)?;
        } else if !is_quiet && (is_single || list.new_findings().next().is_some()) {
            write_list(list, report, out)?;
        } else {
            fine += 1;
        }
    }
    if fine > 0 && !is_quiet {
        writeln!(out, "{GOOD}{}{GOOD:#} without findings", plural(fine, "list"))?;
    }
    for line in report.stale_lines() {
        writeln!(out, "{BAD}error{BAD:#}: {}", printable(&line))?;
    }
    if is_quiet { Ok(()) } else { write_totals(report, out) }
}

fn write_list(list: &LintedList, report: &Report, out: &mut impl Write) -> io::Result<()> {
    let name = printable(&list.name);
    let tools = plural(list.tools.len(), "tool");
    let kept = list.kept.len();
    match list.tools.len().saturating_sub(kept) {
        _ if list.new_findings().next().is_none() => {
            let new = if list.findings.is_empty() { "" } else { "new " };
            return writeln!(out, "{name}: {GOOD}{tools} without {new}findings{GOOD:#}");
        }
        0 => writeln!(out, "{name}: {tools}")?,
        unusable => {
            writeln!(out, "{name}: {tools}, {BAD}{unusable} not usable by any client{BAD:#}")?;
        }
    }
    let is_verbose = report.is_verbose();
    Matrix::new(list, &report.targets, is_verbose).write(is_verbose, out)?;
    writeln!(out)?;
    let infos = write_groups(list, report, out)?;
    if !infos.is_empty() {
        writeln!(out, "{DIM}info, shown with --verbose: {}{DIM:#}\n", infos.join(", "))?;
    }
    Ok(())
}

/// Writes what is found by rule, and returns the rules that are left out, each with its count.
fn write_groups(
    list: &LintedList,
    report: &Report,
    out: &mut impl Write,
) -> io::Result<Vec<String>> {
    let mut groups: BTreeMap<&str, Vec<&Reported>> = BTreeMap::new();
    for reported in list.new_findings() {
        groups.entry(reported.rule()).or_default().push(reported);
    }
    let worst = |group: &[&Reported]| group.iter().map(|found| found.severity()).max();
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(worst(group)));
    let is_shown = |group: &[&Reported]| worst(group).is_some_and(|worst| report.shows(worst));
    for (rule, group) in groups.iter().filter(|(_, group)| is_shown(group)) {
        write_group(rule, group, list, report, out)?;
        writeln!(out)?;
    }
    let left_out = groups.iter().filter(|(_, group)| !is_shown(group));
    Ok(left_out.map(|(rule, group)| format!("{rule} ({})", group.len())).collect())
}

fn write_group(
    rule: &str,
    group: &[&Reported],
    list: &LintedList,
    report: &Report,
    out: &mut impl Write,
) -> io::Result<()> {
    let severity = group.iter().map(|found| found.severity()).max().unwrap_or(Severity::Info);
    let style = if severity == Severity::Info { DIM } else { BAD };
    let summary = rules().find(|one| one.id == rule).map_or("", |rule| rule.summary());
    let tools: BTreeSet<_> = group.iter().map(|found| found.finding.finding.index).collect();
    let place = if list.tools.len() > 1 && !tools.contains(&None) {
        format!(" in {}", plural(tools.len(), "tool"))
    } else {
        String::new()
    };
    writeln!(out, "{style}{severity}[{rule}]{style:#}{place}: {summary}")?;
    write_impacts(group, report.is_verbose(), out)?;
    let shown = if report.is_verbose() { group.len() } else { MAX_PLACES };
    for found in group.iter().take(shown) {
        let place = match (&list.file, found.position) {
            (Some(file), Some((line, column))) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        };
        writeln!(out, "  {}", printable(&format!("{place}{}", found.text())))?;
    }
    if group.len() > shown {
        let rest = plural(group.len() - shown, "more place");
        writeln!(out, "  … {rest} (--verbose shows all)")?;
    }
    let mut titles: Vec<_> = group
        .iter()
        .filter_map(|found| {
            let fix = found.finding.fix.as_ref()?;
            Some((fix.title.as_str(), found.is_fixable() && !report.fixable.is_empty()))
        })
        .collect();
    titles.sort_unstable();
    titles.dedup();
    for (title, applies) in titles.iter().take(MAX_PLACES) {
        let how = if *applies { " (--fix does this)" } else { "" };
        writeln!(out, "  {GOOD}fix{GOOD:#}: {}{how}", printable(title))?;
    }
    // Errors of the protocol cannot be ignored.
    let ignore = match LintOptions::default().ignore(rule) {
        Ok(_) => format!("; to accept it: --ignore {rule}, or ignore = [\"{rule}\"] in [lint]"),
        Err(_) => String::new(),
    };
    writeln!(out, "  {DIM}toolbond explain {rule}{ignore}{DIM:#}")
}

/// Writes what targets do. Unless `all` are asked for: the worst of each target, and of slight effects only the names.
fn write_impacts(group: &[&Reported], all: bool, out: &mut impl Write) -> io::Result<()> {
    let impacts: Vec<_> = group.iter().flat_map(|found| &found.finding.impacts).collect();
    let (bad, slight): (Vec<_>, Vec<_>) = if all {
        (impacts, Vec::new())
    } else {
        worst_impacts(&impacts).into_iter().partition(|one| one.effect > Effect::ConstraintLost)
    };
    for ImpactGroup { effect, note, evidence, targets } in group_impacts(bad) {
        let style = if effect > Effect::ConstraintLost { BAD } else { DIM };
        let (symbol, targets) = (effect_symbol(effect), targets.join(", "));
        writeln!(out, "  {style}{symbol}{style:#} {targets}: {}: {note}", effect.words())?;
        writeln!(out, "    {DIM}{}{DIM:#}", describe_evidence(&evidence))?;
    }
    for effect in [Effect::ConstraintLost, Effect::Degraded] {
        let of_effect = slight.iter().filter(|one| one.effect == effect);
        let targets: Vec<_> = of_effect.map(|one| place(one)).collect();
        if !targets.is_empty() {
            let (symbol, targets) = (effect_symbol(effect), targets.join(", "));
            writeln!(out, "  {DIM}{symbol} {targets}: {}{DIM:#}", effect.words())?;
        }
    }
    Ok(())
}

fn write_totals(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let tools: usize = report.lists.iter().map(|list| list.tools.len()).sum();
    let tools = format!("{} of {}", plural(tools, "tool"), plural(report.lists.len(), "list"));
    let rules = report.rules();
    let count = |severity| rules.values().filter(|worst| **worst == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if errors + warnings == 0 {
        write!(out, "no problems in {tools}")?;
    } else {
        write!(
            out,
            "{} ({}, {}) in {}, {tools} checked",
            plural(errors + warnings, "problem"),
            plural(errors, "error"),
            plural(warnings, "warning"),
            plural(report.count(Severity::Error) + report.count(Severity::Warning), "place"),
        )?;
    }
    match report.count(Severity::Info) {
        0 => {}
        infos => write!(out, "; {}", plural(infos, "info"))?,
    }
    let known = report.lists.iter().flat_map(|list| &list.findings).filter(|found| found.known);
    match known.count() {
        0 => {}
        known => write!(out, "; {known} more in the baseline")?,
    }
    writeln!(out)?;
    let fixable = report.new_findings().filter(|(_, found)| found.is_fixable()).count();
    if fixable > 0 && !report.fixable.is_empty() {
        let files = match &report.fixable[..] {
            [file] => printable(file).into_owned(),
            _ => "…".to_owned(),
        };
        let them = if fixable == 1 { "1 place".to_owned() } else { format!("{fixable} places") };
        writeln!(out, "`toolbond lint --fix {files}` fixes {them}; with --diff, it shows how")?;
    }
    if report.has_baseline && !report.is_clean() {
        writeln!(
            out,
            "`--write-baseline` adds what is new to the baseline, and removes what is gone"
        )?;
    }
    if let Some(target) = most_harmed(report) {
        writeln!(
            out,
            "`toolbond view --for {target}` shows the tools in a form that {target} accepts; \
             `toolbond guard --for {target}` hands them out in it"
        )?;
    }
    Ok(())
}

/// The target that refuses or loses most of what `--fix` does not fix.
fn most_harmed(report: &Report) -> Option<&'static str> {
    let is_harm = |found: &Reported, target: &str| {
        let impacts = &found.finding.impacts;
        // A view is about what a model sends.
        let is_input = found.finding.finding.side == Some(Side::Input);
        is_input
            && !found.is_fixable()
            && impacts.iter().any(|one| one.target == target && one.severity() > Severity::Info)
    };
    let counts = report.targets.iter().map(|target| {
        let findings = report.new_findings().filter(|(_, found)| is_harm(found, target.name));
        (findings.count(), target.name)
    });
    // The first of those with the same count.
    counts
        .filter(|(count, _)| *count > 0)
        .rev()
        .max_by_key(|(count, _)| *count)
        .map(|(_, name)| name)
}
