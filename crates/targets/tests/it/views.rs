//! Views accept what the full schema accepts, obey the rules of their target, and calls of them are restored.
//!
//! By default half of the corpus is checked; `TOOLBOND_CONVERTERS=all` checks all of it.

use std::collections::{BTreeSet, HashSet};

use jsonschema::canonical::{Containment, options};
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::bundle::flatten_tool;
use toolbond_contract::{JudgeOptions, dialect::to_2020_12, judge_tools};
use toolbond_harness::corpus;
use toolbond_harness::generate::{Rng, document, sample};
use toolbond_harness::trials::{none_of, skipped};
use toolbond_schema::{Schema, Verdict};
use toolbond_targets::{Effect, Target, View, check_targets, targets, view_tools};

use crate::agreement::{cases, with_values};
use crate::converters;

/// The random schemas that are tried.
const SCHEMAS: u64 = 800;

/// The parts that the corpus is checked in.
const PARTS: usize = 8;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for target in targets() {
        trials.push(Trial::test(format!("views/cases/{}", target.name), || check_cases(target)));
    }
    trials.push(Trial::test("views/bundles_keep_their_structure", check_bundles));
    for part in 0..PARTS {
        trials.push(Trial::test(format!("views/random/{part}"), move || check_random(part)));
        trials.push(Trial::ignorable_test(format!("views/corpus/{part}"), move || {
            match corpus::files() {
                Ok(files) => check_corpus(&files, part).map(|()| Completion::Completed),
                Err(reason) => skipped(&reason),
            }
        }));
    }
    trials
}

/// The view of a tool that is alone.
pub(crate) fn view(tool: &Value, target: &'static Target) -> View {
    view_tools(std::slice::from_ref(tool), target).remove(0)
}

/// What is wrong with a view of `tool`, for `values` that its input schema accepts.
pub(crate) fn problems(view: &View, target: &'static Target, values: &[Value]) -> Vec<String> {
    let mut wrong = Vec::new();
    // Header annotations, for example, have to stay right.
    let judged = judge_tools(view.tool.clone(), &JudgeOptions::default());
    wrong.extend(
        judged
            .errors()
            .filter(|it| !it.pointer.as_str().starts_with("/outputSchema"))
            .map(ToString::to_string),
    );
    let schema = match Schema::compile(&view.tool["inputSchema"]) {
        Ok(schema) => schema,
        Err(error) => return vec![format!("the view is refused: {error}")],
    };
    for value in values {
        let written = view.express(value);
        if let Verdict::Invalid(violations) = schema.validate(&written) {
            wrong.push(format!("the view refuses {violations}: {value} is written as {written}"));
        }
        let restored = view.restore(written.clone());
        if restored != *value && without_nulls(&restored) != without_nulls(value) {
            wrong.push(format!("{value} is written as {written} and restored as {restored}"));
        }
    }
    for found in check_targets(view.tool.as_object().unwrap(), &[target], None) {
        if let Some(impact) = found.impacts.iter().find(|it| it.effect > Effect::Degraded)
            && !is_kept(&found.finding)
        {
            let rule = found.finding.rule;
            wrong.push(format!("the view breaks {rule} ({}): {}", impact.note, found.finding));
        }
    }
    wrong
}

/// Whether a view cannot change what a finding is about: an output schema, the name of a tool with a user interface, the
/// number of tools, or an optional property of a nested object.
fn is_kept(finding: &toolbond_contract::Finding) -> bool {
    finding.pointer.as_str().starts_with("/outputSchema")
        || matches!(finding.rule, "nested-optional" | "tool-count")
        || finding.message.contains(" properties, cohere takes")
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
    let unusual = with_values(include_str!("../cases/views.json"));
    for case in cases().into_iter().chain(unusual) {
        if Schema::compile(&case.tool["inputSchema"]).is_err()
            || case.tool["inputSchema"]["type"] != "object"
        {
            continue;
        }
        let view = view(&case.tool, target);
        let (name, there) = (case.name, &view.tool["inputSchema"]);
        let found = problems(&view, target, &case.valid).into_iter();
        wrong.extend(found.map(|problem| format!("{name}: {problem}\n    {there}")));
    }
    none_of(wrong)
}

/// A schema with embedded documents has the view that it has with pointers.
fn check_bundles() -> Result<(), Failed> {
    let mut wrong = Vec::new();
    let mut changed = BTreeSet::new();
    for case in cases() {
        let flat = flatten_tool(&case.tool).tool;
        if *flat == case.tool {
            continue;
        }
        for target in targets() {
            let [bundled, flat] = [&case.tool, &*flat].map(|tool| view(tool, target));
            if bundled.is_unchanged() {
                continue;
            }
            changed.insert(target.name);
            if bundled.tool != flat.tool {
                let (name, target) = (&case.name, target.name);
                wrong.push(format!("{name}, {target}: {} is not {}", bundled.tool, flat.tool));
            }
        }
    }
    assert!(changed.contains("gemini"), "only {changed:?} have another view");
    none_of(wrong)
}

fn check_corpus(files: &[corpus::File], part: usize) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for file in files.iter().skip(part).step_by(PARTS) {
        let server = file.read();
        let step = if converters::all() { 1 } else { 2 };
        let usable: Vec<Value> =
            server.tools().iter().step_by(step).filter(|tool| is_usable(tool)).cloned().collect();
        let values: Vec<_> = usable.iter().map(|tool| samples(&tool["inputSchema"])).collect();
        for target in targets() {
            let views = view_tools(&usable, target);
            let mut names = HashSet::new();
            for (view, values) in views.iter().zip(&values) {
                let name = format!("{} {} {}", target.name, server.name, view.name);
                if !names.insert(view.view_name()) {
                    wrong.push(format!("{name}: another tool is called {}", view.view_name()));
                }
                if !view.is_unchanged() {
                    let found = problems(view, target, values).into_iter();
                    wrong.extend(found.map(|problem| format!("{name}: {problem}")));
                }
            }
        }
    }
    none_of(wrong)
}

/// Random schemas, as properties and as the whole input schema. Where the form of values stays, the view covers the full
/// schema as far as that can be decided.
fn check_random(part: usize) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for seed in (part as u64..SCHEMAS).step_by(PARTS) {
        let mut rng = Rng::new(seed);
        let mut schema = document(&mut rng);
        if seed % 2 == 0 {
            let definitions = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
            schema = json!({ "properties": { "a": schema, "b": { "type": "string" } }, "required": ["a"] });
            schema["$defs"] = definitions.unwrap_or_else(|| json!({}));
        }
        let Value::Object(map) = &mut schema else { continue };
        map.insert("type".to_owned(), json!("object"));
        let tool = json!({ "name": "t", "inputSchema": schema });
        // Other properties of an alternative may be declared by another one.
        let is_explicit = schema.to_string().contains(r#""additionalProperties":true"#);
        if !is_usable(&tool) || is_explicit {
            continue;
        }
        let values = samples(&schema);
        for target in targets() {
            let view = view(&tool, target);
            let there = &view.tool["inputSchema"];
            let mut found = problems(&view, target, &values);
            if !view.changes_arguments()
                && schema.get("properties").is_some()
                && !covers(there, &schema)
            {
                found.push("accepts less".to_owned());
            }
            let name = target.name;
            wrong.extend(
                found.iter().map(|it| format!("{name} {seed}: {it}\n  {schema}\n  {there}")),
            );
        }
    }
    none_of(wrong)
}

/// Whether `view` accepts what `full` accepts, unless that is not decided. Objects may be closed.
fn covers(view: &Value, full: &Value) -> bool {
    // Their properties count as declared only if the condition holds.
    if full.to_string().contains("dependentSchemas") {
        return true;
    }
    let mut closed = full.clone();
    close(&mut closed, true);
    let canonical = |schema: &Value| {
        options().offline().should_validate_formats(false).canonicalize(schema).ok()
    };
    match (canonical(view), canonical(&closed)) {
        (Some(view), Some(full)) => !matches!(view.covers(&full), Ok(Containment::No)),
        _ => true,
    }
}

/// Whether the tool can be used as it is.
pub(crate) fn is_usable(tool: &Value) -> bool {
    judge_tools(tool.clone(), &JudgeOptions::default()).errors().next().is_none()
}

/// Values that `schema` accepts and that use only what it declares.
pub(crate) fn samples(schema: &Value) -> Vec<Value> {
    let (Ok(compiled), Ok(current)) = (Schema::compile(schema), to_2020_12(schema)) else {
        return Vec::new();
    };
    let mut closed = current.into_owned();
    close(&mut closed, true);
    let Ok(closed) = Schema::compile(&closed) else { return Vec::new() };
    let mut rng = Rng::new(7);
    let mut values = Vec::new();
    for _ in 0..40 {
        let value = sample(&mut rng, schema, 8);
        if value.is_object()
            && compiled.is_valid(&value)
            && !has_surplus(&value)
            && closed.is_valid(&value)
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

/// Closes objects that say nothing about other properties than they declare, and types what declares properties or
/// elements.
fn close(schema: &mut Value, is_whole: bool) {
    let Value::Object(members) = schema else { return };
    members.remove("$schema");
    let is_split = members.contains_key("properties") || members.contains_key("allOf");
    for (keyword, inner) in members.iter_mut() {
        match (keyword.as_str(), inner) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(all)) => {
                all.values_mut().for_each(|inner| close(inner, true));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                for inner in all {
                    close(inner, !is_split);
                }
            }
            ("prefixItems", Value::Array(all)) => {
                for inner in all {
                    close(inner, true);
                }
            }
            ("items" | "additionalProperties", inner) => close(inner, true),
            _ => {}
        }
    }
    if !members.contains_key("type") && members.contains_key("properties") {
        members.insert("type".to_owned(), "object".into());
    } else if !members.contains_key("type")
        && (members.contains_key("items") || members.contains_key("prefixItems"))
    {
        members.insert("type".to_owned(), "array".into());
    }
    let describes = ["properties", "anyOf", "oneOf", "allOf", "$ref"]
        .iter()
        .any(|it| members.contains_key(*it));
    let is_object = members.get("type").is_some_and(|it| it == "object");
    if is_whole && is_object && describes && !members.contains_key("additionalProperties") {
        members.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// Whether the generator added a member that is not declared.
fn has_surplus(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key("surplus") || members.values().any(has_surplus)
        }
        Value::Array(items) => items.iter().any(has_surplus),
        _ => false,
    }
}
