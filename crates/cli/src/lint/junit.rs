//! `--format junit`: a test suite per list, a test case per tool, a failure per finding that fails the check.

use std::borrow::Cow;
use std::io::{self, Write};

use super::impacts::summary;
use super::list::{LintedList, Reported};
use super::report::Report;
use crate::terminal::printable;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="toolbond lint">"#)?;
    for list in &report.lists {
        write_list(list, report, out)?;
    }
    if !report.stale.is_empty() {
        let count = report.stale.len();
        writeln!(
            out,
            r#"  <testsuite name="baseline" tests="{count}" failures="{count}" errors="0" skipped="0">"#
        )?;
        for entry in &report.stale {
            let name = attribute(&entry.fingerprint);
            let text = entry.to_string();
            writeln!(out, r#"    <testcase name="{name}" classname="baseline">"#)?;
            writeln!(out, r#"      <failure type="stale" message="{}"/>"#, attribute(&text))?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn write_list(list: &LintedList, report: &Report, out: &mut impl Write) -> io::Result<()> {
    let name = attribute(&list.name);
    let mut cases: Vec<(String, Vec<&Reported>)> =
        (0..list.tools.len()).map(|index| (list.tool_name(index), Vec::new())).collect();
    let mut about_list = Vec::new();
    for found in list.new_findings() {
        let is_single = list.tools.len() == 1;
        let index = found.finding.finding.index.or(is_single.then_some(0));
        match index.and_then(|index| cases.get_mut(index)) {
            Some((_, findings)) => findings.push(found),
            None => about_list.push(found),
        }
    }
    if !about_list.is_empty() {
        cases.push(("(the list)".to_owned(), about_list));
    }
    let fails = |found: &&&Reported| report.fails(found.severity());
    let failures = cases.iter().filter(|(_, found)| found.iter().any(|one| fails(&one))).count();
    let tests = cases.len();
    writeln!(
        out,
        r#"  <testsuite name="{name}" tests="{tests}" failures="{failures}" errors="0" skipped="0">"#
    )?;
    for (tool, findings) in &cases {
        let tool = attribute(tool);
        if findings.is_empty() {
            writeln!(out, r#"    <testcase name="{tool}" classname="{name}"/>"#)?;
            continue;
        }
        writeln!(out, r#"    <testcase name="{tool}" classname="{name}">"#)?;
        for found in findings.iter().filter(fails) {
            let message = format!("{}: {}", found.pointer(), found.message());
            let kind = format!("{}[{}]", found.severity(), found.rule());
            writeln!(
                out,
                r#"      <failure type="{}" message="{}">{}</failure>"#,
                attribute(&kind),
                attribute(&message),
                escape(&details(found, list))
            )?;
        }
        let rest: Vec<_> = findings.iter().filter(|found| !fails(found)).collect();
        if !rest.is_empty() {
            let lines: Vec<_> = rest
                .iter()
                .map(|found| printable(&found.finding.finding.to_string()).into_owned())
                .collect();
            writeln!(out, "      <system-out>{}</system-out>", escape(&lines.join("\n")))?;
        }
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

/// Place, impacts and where to read more.
fn details(found: &Reported, list: &LintedList) -> String {
    let mut lines = Vec::new();
    if let (Some(file), Some((line, column))) = (&list.file, found.position) {
        lines.push(printable(&format!("{file}:{line}:{column}")).into_owned());
    }
    let impacts = summary(&found.finding.impacts);
    if !impacts.is_empty() {
        lines.push(impacts);
    }
    lines.push(format!("toolbond explain {}", found.rule()));
    lines.join("\n")
}

/// Escapes text for an attribute: on one line.
fn attribute(text: &str) -> String {
    escape(&printable(text)).into_owned()
}

/// Escapes text for XML 1.0, which has no form for most control characters: these are shown as `\u{…}`.
fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !matches!(c, '&' | '<' | '>' | '"' | '\'') && is_xml(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c if is_xml(c) => escaped.push(c),
            c => escaped.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(escaped)
}

/// Whether `c` may stand in XML 1.0 (production 2), without the controls U+007F to U+009F that it discourages.
const fn is_xml(c: char) -> bool {
    matches!(c, '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}
