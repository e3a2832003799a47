//! Rules agree with the converters that they are about: where a converter throws, loses or keeps, so do its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{JudgeOptions, judge_tools};
use toolbond_harness::trials::{self, none_of};
use toolbond_schema::Schema;
use toolbond_targets::{Effect, check_targets, targets};

use crate::converters::{self, Converted, Made};
use crate::docs;
use crate::survive::{Sampled, corpus_tools, problem};

/// A schema with values that it accepts and refuses.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) tool: Value,
    pub(crate) valid: Vec<Value>,
    pub(crate) invalid: Vec<Value>,
}

/// The cases of `schemas.json`, which all converters are run on.
pub(crate) fn cases() -> Vec<Case> {
    with_values(include_str!("../cases/schemas.json"))
}

/// The cases of a file, and their valid values with fewer members.
pub(crate) fn with_values(text: &str) -> Vec<Case> {
    read(text)
        .into_iter()
        .map(|case| {
            let schema = &case["schema"];
            let mut valid = case["valid"].as_array().unwrap().clone();
            if let Ok(compiled) = Schema::compile(schema) {
                let fewer: Vec<_> = valid.iter().flat_map(without_members).collect();
                valid.extend(fewer.into_iter().filter(|value| compiled.is_valid(value)));
            }
            Case {
                name: case["name"].as_str().unwrap().to_owned(),
                tool: json!({ "name": "tool", "description": "A tool.", "inputSchema": schema }),
                valid,
                invalid: case["invalid"].as_array().unwrap().clone(),
            }
        })
        .collect()
}

/// The entries of a file of cases.
pub(crate) fn read(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

/// `value` without one member, for each member at any depth.
fn without_members(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, inner)| {
                let mut fewer = members.clone();
                fewer.shift_remove(name);
                let inside = without_members(inner).into_iter().map(|inner| {
                    let mut changed = members.clone();
                    changed.insert(name.clone(), inner);
                    Value::Object(changed)
                });
                std::iter::once(Value::Object(fewer)).chain(inside).collect::<Vec<_>>()
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, inner)| {
                without_members(inner).into_iter().map(move |inner| {
                    let mut changed = items.clone();
                    changed[index] = inner;
                    Value::Array(changed)
                })
            })
            .collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, check: fn() -> Result<(), Failed>| {
        converters::trial(name, move || check().map(|()| Completion::Completed))
    };
    vec![
        trial("agreement/rules_agree_with_converters", compare),
        trial("agreement/rules_agree_with_clients", compare_clients),
        converters::host_trial("agreement/rules_agree_with_hosts", || {
            compare_hosts().map(|()| Completion::Completed)
        }),
        converters::host_trial("agreement/rules_agree_with_hosts_over_the_corpus", || {
            match corpus_tools() {
                Ok(tools) => compare_corpus(&tools).map(|()| Completion::Completed),
                Err(reason) => trials::skipped(&reason),
            }
        }),
    ]
}

/// What a converter does to a schema, as far as values show.
pub(crate) fn measure(case: &Case, made: &Made) -> Option<Effect> {
    let accepts: Box<dyn Fn(&Value) -> bool> = match made {
        Made::Error(_) => return Some(Effect::RequestFails),
        Made::Schema(Value::Null) => {
            let has_parameters = case.valid.iter().any(|value| value != &json!({}));
            return has_parameters.then_some(Effect::CallFails);
        }
        Made::Schema(schema) => match Schema::compile(schema) {
            Ok(schema) => Box::new(move |value| schema.is_valid(value)),
            Err(_) => return Some(Effect::CallFails),
        },
        Made::Regex(regex) => {
            let Ok(regex) = fancy_regex::Regex::new(&format!("^(?:{regex})$")) else {
                return Some(Effect::RequestFails);
            };
            Box::new(move |value| regex.is_match(&compact(value)).unwrap_or(false))
        }
    };
    if !case.valid.iter().all(&accepts) {
        return Some(Effect::CallFails);
    }
    case.invalid.iter().any(accepts).then_some(Effect::ConstraintLost)
}

/// JSON as `outlines` writes it: a space after `:` and `,`.
fn compact(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", json!(name), compact(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

/// The worst effect that the rules about `converter` expect for `tool`, from [`Effect::ConstraintLost`] on.
pub(crate) fn expected(tool: &Value) -> (bool, BTreeMap<&'static str, Effect>) {
    let is_unusable = judge_tools(tool.clone(), &JudgeOptions::default()).errors().next().is_some();
    let found = check_targets(tool.as_object().unwrap(), targets(), None);
    let mut worst: BTreeMap<&'static str, Effect> = BTreeMap::new();
    for impact in found.iter().flat_map(|found| &found.impacts) {
        if let Some(converter) = impact.evidence.converter
            && impact.effect >= Effect::ConstraintLost
        {
            let known = worst.entry(converter).or_insert(impact.effect);
            *known = (*known).max(impact.effect);
        }
    }
    (is_unusable, worst)
}

/// Known differences: the converter, the case and why.
fn exceptions() -> BTreeMap<(String, String), String> {
    let list = read(include_str!("../cases/exceptions.json"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.iter()
        .flat_map(|entry| {
            let cases = entry["cases"].as_array().unwrap();
            let reason = text(&entry["reason"]);
            cases.iter().map(move |case| ((text(&entry["converter"]), text(case)), reason.clone()))
        })
        .collect()
}

fn compare() -> Result<(), Failed> {
    let is_of_converter = |name: &str| !converters::HOSTS.contains(&name);
    compare_with("converters", converters::convert, is_of_converter)
}

fn compare_hosts() -> Result<(), Failed> {
    compare_with("hosts", converters::convert_in_hosts, |name| converters::HOSTS.contains(&name))
}

/// Holds the rules about what `convert` runs, the converters that `is_run`, against what they do, and writes the table
/// `part`.
fn compare_with(
    part: &str,
    convert: fn(&[Value]) -> Vec<Converted>,
    is_run: fn(&str) -> bool,
) -> Result<(), Failed> {
    let cases = cases();
    let lines: Vec<Value> = cases.iter().map(|case| json!({ "tool": case.tool })).collect();
    let converted = convert(&lines);
    let mut exceptions = exceptions();
    exceptions.retain(|(converter, case), _| {
        is_run(converter) && !case.starts_with("output-") && !case.starts_with("corpus-")
    });
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    let expectations: Vec<_> = cases.iter().map(|case| expected(&case.tool)).collect();
    for Converted { id, converter, made } in &converted {
        let case = &cases[*id];
        let (is_unusable, worst) = &expectations[*id];
        if *is_unusable {
            continue;
        }
        let found = measure(case, made);
        let expected = worst.get(converter.as_str()).copied();
        if found == expected
            || (found == Some(Effect::RequestFails) && expected >= Some(Effect::CallFails))
        {
            continue;
        }
        let key = (converter.clone(), case.name.clone());
        if exceptions.contains_key(&key) {
            used.insert(key);
            continue;
        }
        wrong.push(difference(converter, &case.name, found, expected, made));
    }
    for key in exceptions.keys().filter(|key| !used.contains(*key)) {
        wrong.push(format!("{}\t{}\tis listed as an exception, and agrees", key.0, key.1));
    }
    none_of(wrong)?;
    docs::compare("converters.md", part, &table(&cases, &converted, &exceptions))
}

/// A host offers a published tool, and takes its calls, unless a rule about it says otherwise.
fn compare_corpus(tools: &[Sampled]) -> Result<(), Failed> {
    let lines: Vec<Value> = tools.iter().map(|one| json!({ "tool": one.tool })).collect();
    let (exceptions, mut wrong) = (exceptions(), Vec::new());
    for Converted { id, converter, made } in converters::convert_in_hosts(&lines) {
        let Sampled { name, tool, values } = &tools[id];
        let mut alone = tool.clone();
        // What a host does to names and output schemas is not measured here.
        alone["name"] = json!("tool");
        alone.as_object_mut().unwrap().remove("outputSchema");
        let expected = expected(&alone).1.get(converter.as_str()).copied();
        let found = problem(&made, values);
        let key = (converter.clone(), format!("corpus-{}", name.replace('"', "")));
        if found.is_some() != (expected >= Some(Effect::CallFails))
            && !exceptions.contains_key(&key)
        {
            wrong.push(format!("{converter}\t{name}\t{found:?}\trules say {expected:?}"));
        }
    }
    none_of(wrong)
}

fn difference(
    converter: &str,
    case: &str,
    found: Option<Effect>,
    expected: Option<Effect>,
    made: &Made,
) -> String {
    format!("{converter}\t{case}\tdoes {found:?}\trules say {expected:?}\t{made:?}")
}

/// What each converter does to each case.
fn table(
    cases: &[Case],
    converted: &[Converted],
    exceptions: &BTreeMap<(String, String), String>,
) -> String {
    let names: BTreeSet<&str> = converted.iter().map(|one| one.converter.as_str()).collect();
    let mut marks: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for Converted { id, converter, made } in converted {
        let mark = match measure(&cases[*id], made) {
            Some(Effect::RequestFails) => "✗",
            Some(Effect::CallFails) => "!",
            Some(_) => "~",
            None => "",
        };
        marks.insert((*id, converter), mark);
    }
    let mut text = format!(
        "{} results of {} converters over {} schemas. Rules and converters differ in {} of them, each with its reason in \
         `crates/targets/tests/cases/exceptions.json`.\n\n| schema | {} |\n| --- |{}\n",
        converted.len(),
        names.len(),
        cases.len(),
        exceptions.len(),
        names.iter().copied().collect::<Vec<_>>().join(" | "),
        " --- |".repeat(names.len())
    );
    for (id, case) in cases.iter().enumerate() {
        let row: Vec<_> =
            names.iter().map(|name| marks.get(&(id, name)).copied().unwrap_or_default()).collect();
        // Writing to a `String` does not fail.
        _ = writeln!(text, "| {} | {} |", case.name, row.join(" | "));
    }
    text
}

/// Rules about output schemas agree with the clients of the SDKs, which list a tool and call it.
fn compare_clients() -> Result<(), Failed> {
    let cases = read(include_str!("../cases/outputs.json"));
    let tool = |case: &Value| {
        json!({
            "name": "tool",
            "inputSchema": { "type": "object", "properties": {} },
            "outputSchema": case["schema"]
        })
    };
    let clients = ["ts-sdk-v1", "ts-sdk-v2", "ts-sdk-v2-beta", "python-sdk"];
    let line = |case: &Value| json!({ "tool": tool(case), "structured": case["structured"], "converters": clients });
    let lines: Vec<Value> = cases.iter().map(line).collect();
    let exceptions = exceptions();
    let mut wrong = Vec::new();
    for Converted { id, converter, made } in converters::convert(&lines) {
        let found = match &made {
            Made::Error(error) if error.starts_with("list: ") => Some(Effect::RequestFails),
            Made::Error(_) => Some(Effect::CallFails),
            _ => None,
        };
        let name = format!("output-{}", cases[id]["name"].as_str().unwrap());
        let (is_unusable, worst) = expected(&tool(&cases[id]));
        let expected = worst.get(converter.as_str()).copied();
        if found != expected
            && !is_unusable
            && !exceptions.contains_key(&(converter.clone(), name.clone()))
        {
            wrong.push(difference(&converter, &name, found, expected, &made));
        }
    }
    none_of(wrong)
}
