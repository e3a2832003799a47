//! Schemas that are meant to do harm are checked within bounds.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{JudgeOptions, judge_tools};
use toolbond_harness::hostile;
use toolbond_harness::trials::check_all;
use toolbond_targets::{LintOptions, lint_tools, rules, target};

use crate::views::view;

/// The most findings of one rule in one tool, and the bytes of pointers after which there are no more.
const REPORTED: usize = 64;
const POINTERS: usize = 1 << 16;

/// The processes that the hostile schemas are checked in.
const GROUPS: usize = 16;

/// The bytes that a view may have, beside eight times those of the schema.
const VIEW: usize = 64 << 10;

/// Checks a hostile schema as a whole input or output schema and as a property, and makes views of its input.
fn check(case: &hostile::Case) -> Result<(), Failed> {
    let schema = case.schema();
    // Assigned, not copied: some are large.
    let mut whole = json!({ "name": "t" });
    whole["inputSchema"] = schema.clone();
    views(&whole)?;
    whole["outputSchema"] = schema.clone();
    assert_bounded(&whole);
    let mut property = json!({ "name": "t", "inputSchema": { "type": "object" } });
    property["inputSchema"]["properties"]["p"] = schema;
    views(&property)?;
    property["inputSchema"]["properties"]["q"]["default"] = case.instance();
    assert_bounded(&property);
    Ok(())
}

/// Views of a tool that can be used are not much larger than the tool.
fn views(tool: &Value) -> Result<(), Failed> {
    if judge_tools(tool.clone(), &JudgeOptions::default()).contracts.is_empty() {
        return Ok(());
    }
    let size = tool["inputSchema"].to_string().len();
    for name in ["openai-strict", "gemini", "kimi"] {
        let found = view(tool, target(name)?).tool["inputSchema"].to_string().len();
        assert!(found <= 8 * size + VIEW, "the view for {name} has {found} bytes, not {size}");
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    // Several in one process: most take less time than starting it.
    let hostile = (0..GROUPS).map(|group| {
        Trial::test(format!("checks/hostile/{group}"), move || {
            let cases = hostile::cases().into_iter().skip(group).step_by(GROUPS);
            // The JSON reader refuses what is deeper.
            let cases = cases.filter(|case| !is_too_deep(&case.schema()));
            check_all(cases.map(|case| (case.name.clone(), case)), check)
        })
    });
    let limits = Trial::test("checks/hostile/limits", limits);
    let many = Trial::test("checks/hostile/many_long_names", || {
        let properties: Map<_, _> =
            (0..2000).map(|index| (format!("p{index}"), json!({ "type": "array" }))).collect();
        let long = json!({ "properties": properties, "required": ["a", "b"] });
        let schema = json!({ "type": "object", "properties": { "n".repeat(20_000): long } });
        assert_bounded(&json!({ "name": "t", "inputSchema": schema }));
        Ok(())
    });
    hostile.chain([limits, many]).collect()
}

/// What is just within a limit is found, and what is past it is not.
fn limits() -> Result<(), Failed> {
    let contradiction = json!({ "type": "string", "const": 1 });
    let combinations = |unions: usize| {
        let either = |first: usize| -> Value {
            (first..first + 10).map(|name| json!({ "required": [format!("p{name}")] })).collect()
        };
        let all: Vec<_> = (0..unions).map(|first| json!({ "anyOf": either(first) })).collect();
        json!({ "allOf": all, "properties": { "q": contradiction } })
    };
    let examples = |valid: usize| {
        let mut values = vec![json!("x"); valid];
        values.push(json!(1));
        json!({ "type": "string", "examples": values })
    };
    for (rule, schema, properties, finds) in [
        // The root counts too.
        ("schema-unsatisfiable", contradiction.clone(), 499, true),
        ("schema-unsatisfiable", contradiction.clone(), 500, false),
        ("schema-unsatisfiable", combinations(2), 1, true),
        ("schema-unsatisfiable", combinations(10), 1, false),
        ("examples-invalid", examples(99), 1, true),
        ("examples-invalid", examples(100), 1, false),
    ] {
        let found = find(rule, &schema, properties, &json!({}))?;
        assert_eq!(!found.is_empty(), finds, "{rule}, {properties} properties: {found:?}");
    }
    // Those past the limit are counted.
    let found = find("array-without-items", &json!({ "type": "array" }), REPORTED + 2, &json!({}))?;
    assert_eq!(found.len(), REPORTED);
    assert!(found[REPORTED - 1].ends_with("found none, and 2 more like it"), "{found:?}");
    // Each default compiles the whole schema of about 1,000,000 bytes, because of the reference.
    let long = json!({ "d": { "type": "string", "title": "x".repeat(1_000_000) } });
    let property = json!({ "$ref": "#/$defs/d", "default": 1 });
    assert_eq!(find("default-invalid", &property, 18, &long)?.len(), 16);
    Ok(())
}

/// The messages of `rule` about a tool with `count` properties of this schema, beside `definitions`.
fn find(
    rule: &str,
    schema: &Value,
    count: usize,
    definitions: &Value,
) -> Result<Vec<String>, Failed> {
    let properties: Map<_, _> =
        (0..count).map(|index| (format!("p{index}"), schema.clone())).collect();
    let input = json!({ "type": "object", "properties": properties, "$defs": definitions });
    let options = LintOptions::default().select(rule)?;
    let report = lint_tools(json!({ "name": "t", "inputSchema": input }), &options);
    Ok(report.findings.into_iter().map(|found| found.finding.message).collect())
}

/// Whether `value` has more nested levels than `serde_json` reads.
fn is_too_deep(value: &Value) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => pending.extend(members.values().map(|one| (one, depth + 1))),
            _ => {}
        }
        if depth > 127 {
            return true;
        }
    }
    false
}

fn assert_bounded(tool: &Value) {
    let report = lint_tools(tool.clone(), &LintOptions::default());
    for rule in rules() {
        let all = report.findings.iter().filter(|one| one.finding.rule == rule.id);
        let lengths: Vec<_> = all.map(|one| one.finding.pointer.as_str().len()).collect();
        let (count, bytes) = (lengths.len(), lengths.iter().sum::<usize>());
        let most = POINTERS + 2 * lengths.into_iter().max().unwrap_or_default();
        assert!(count <= REPORTED && bytes <= most, "{}: {count} findings, {bytes} bytes", rule.id);
    }
}
