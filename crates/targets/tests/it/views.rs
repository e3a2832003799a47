//! Views accept what the full schema accepts, obey the rules of their target, and calls of them are restored.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolpact_schema::Schema;
use toolpact_targets::{Effect, LintOptions, Target, View, lint_tools, targets, view_tools};
use toolpact_testkit::corpus;
use toolpact_testkit::generate::{Rng, sample};

use crate::agreement::cases;
use crate::converters::{self, Made};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for target in targets() {
        trials.push(Trial::test(format!("views/cases/{}", target.name), || check_cases(target)));
        trials.push(Trial::test(format!("views/corpus/{}", target.name), || check_corpus(target)));
    }
    trials
}

/// What is wrong with a view of `tool`, for `values` that its input schema accepts.
pub(crate) fn problems(
    tool: &Value,
    view: &View,
    target: &'static Target,
    values: &[Value],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let schema = match Schema::compile(&view.tool["inputSchema"]) {
        Ok(schema) => schema,
        Err(error) => return vec![format!("the view is refused: {error}")],
    };
    for value in values {
        let written = view.express(value);
        if !schema.is_valid(&written) {
            wrong.push(format!("{value} is written as {written}, which the view refuses"));
        }
        let restored = view.restore(written.clone());
        if restored != *value && without_nulls(&restored) != without_nulls(value) {
            wrong.push(format!("{value} is written as {written} and restored as {restored}"));
        }
    }
    let options = LintOptions::default().targets([target]);
    let report = lint_tools(view.tool.clone(), &options);
    for found in report.findings {
        if let Some(impact) = found.impacts.iter().find(|it| it.effect > Effect::Degraded)
            && !is_kept(&found.finding, tool)
        {
            wrong.push(format!(
                "the view breaks {} ({}): {}",
                found.finding.rule, impact.note, found.finding
            ));
        }
    }
    wrong
}

/// Whether a view cannot change what a finding is about: an output schema, the name of a tool with a user interface, the
/// number of tools, or an optional property of a nested object.
fn is_kept(finding: &toolpact_contract::Finding, _tool: &Value) -> bool {
    finding.pointer.as_str().starts_with("/outputSchema")
        || matches!(finding.rule, "nested-optional" | "tool-count")
}

/// An optional property that accepts null is written as null when it is absent.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

fn check_cases(target: &'static Target) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for case in cases() {
        if Schema::compile(&case.tool["inputSchema"]).is_err()
            || case.tool["inputSchema"]["type"] != "object"
        {
            continue;
        }
        let view = view_tools(&[case.tool.clone()], target).remove(0);
        for problem in problems(&case.tool, &view, target, &case.valid) {
            wrong.push(format!(
                "{}: {problem}\n    {}\n    {}",
                case.name, case.tool["inputSchema"], view.tool["inputSchema"]
            ));
        }
    }
    report(wrong)
}

fn check_corpus(target: &'static Target) -> Result<(), Failed> {
    let servers = match corpus::servers() {
        Ok(servers) => servers,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
    let mut wrong = Vec::new();
    for server in servers {
        let views = view_tools(server.tools(), target);
        let mut names = BTreeMap::new();
        for (tool, view) in server.tools().iter().zip(&views) {
            if let Some(other) = names.insert(view.view_name().to_owned(), view.name.clone())
                && other != view.name
            {
                wrong.push(format!(
                    "{}: {other} and {} are both {}",
                    server.name,
                    view.name,
                    view.view_name()
                ));
            }
            let values = samples(&tool["inputSchema"]);
            for problem in problems(tool, view, target, &values) {
                wrong.push(format!(
                    "{} {}: {problem}\n    {}\n    {}",
                    server.name, view.name, tool["inputSchema"], view.tool["inputSchema"]
                ));
            }
        }
    }
    report(wrong)
}

/// Values that `schema` accepts and that use only what it declares.
pub(crate) fn samples(schema: &Value) -> Vec<Value> {
    let Ok(compiled) = Schema::compile(schema) else { return Vec::new() };
    let mut rng = Rng::new(7);
    let mut values = Vec::new();
    for _ in 0..40 {
        let value = sample(&mut rng, schema, 8);
        if value.is_object()
            && compiled.is_valid(&value)
            && value.get("surplus").is_none()
            && !values.contains(&value)
        {
            values.push(value);
        }
        if values.len() == 6 {
            break;
        }
    }
    values
}

fn report(wrong: Vec<String>) -> Result<(), Failed> {
    if wrong.is_empty() {
        return Ok(());
    }
    let shown: Vec<_> = wrong.iter().take(20).map(String::as_str).collect();
    Err(format!("{} problems:\n{}", wrong.len(), shown.join("\n")).into())
}

/// Views pass the converters of their target.
pub(crate) fn _unused(_: &Made) {
    let _ = converters::missing();
}
