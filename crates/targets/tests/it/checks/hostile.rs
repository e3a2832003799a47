//! Schemas that are meant to do harm are checked within bounds.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{JudgeOptions, judge_tools};
use toolbond_harness::hostile;
use toolbond_harness::trials::check_all;
use toolbond_targets::{LintOptions, lint_tools, rules, target, view_tools};

/// The most findings of one rule in one tool, and the bytes of pointers after which there are no more.
const REPORTED: usize = 64;
const POINTERS: usize = 1 << 16;

/// The processes that the hostile schemas are checked in.
const GROUPS: usize = 16;

/// The bytes that a view may have, beside eight times those of the schema.
const VIEW: usize = 64 << 10;

/// Checks a hostile schema as a whole input schema and as a property, and makes views of both.
fn check(case: &hostile::Case) -> Result<(), Failed> {
    let mut tool = json!({ "name": "t" });
    tool["inputSchema"] = case.schema();
    tool["outputSchema"] = case.schema();
    bounded(&tool)?;
    views(&tool)?;
    tool["inputSchema"] = json!({ "type": "object", "properties": {} });
    tool["inputSchema"]["properties"]["p"] = case.schema();
    views(&tool)?;
    tool["inputSchema"]["properties"]["q"]["default"] = case.instance();
    bounded(&tool)
}

/// Views of a tool that can be used are not much larger than the tool.
fn views(tool: &Value) -> Result<(), Failed> {
    if judge_tools(tool.clone(), &JudgeOptions::default()).contracts.is_empty() {
        return Ok(());
    }
    let size = tool["inputSchema"].to_string().len();
    for name in ["openai-strict", "gemini", "kimi"] {
        let target = target(name)?;
        let view = view_tools(std::slice::from_ref(tool), target).remove(0);
        let found = view.tool["inputSchema"].to_string().len();
        if found > 8 * size + VIEW {
            return Err(format!(
                "the view for {} has {found} bytes, the schema {size}",
                target.name
            )
            .into());
        }
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
    let many = Trial::test("checks/hostile/many_long_names", || {
        let long = "n".repeat(20_000);
        let properties: Map<_, _> =
            (0..2000).map(|index| (format!("p{index}"), json!({ "type": "array" }))).collect();
        let schema = json!({
            "type": "object",
            "properties": { long: { "properties": properties, "required": ["a", "b"] } }
        });
        bounded(&json!({ "name": "t", "inputSchema": schema }))
    });
    let more = Trial::test("checks/hostile/findings_past_the_limit_are_counted", || {
        let found = find("array-without-items", &json!({ "type": "array" }), REPORTED + 2)?;
        match found.last() {
            Some(last)
                if found.len() == REPORTED && last.ends_with("found none, and 2 more like it") =>
            {
                Ok(())
            }
            last => Err(format!("{} findings, the last {last:?}", found.len()).into()),
        }
    });
    let contradictions = Trial::test("checks/hostile/contradictions_past_the_limit", || {
        let contradiction = json!({ "type": "string", "const": 1 });
        // The root counts too.
        for (properties, finds) in [(499, true), (500, false)] {
            let found = find("schema-unsatisfiable", &contradiction, properties)?;
            if found.is_empty() == finds {
                return Err(format!("{properties} properties: {found:?}").into());
            }
        }
        Ok(())
    });
    let combinations = Trial::test("checks/hostile/combinations_past_the_limit", || {
        let either = |a: usize| json!({ "anyOf": (0..10).map(|b| json!({ "required": [format!("p{}", a + b)] })).collect::<Vec<_>>() });
        let contradiction = json!({ "type": "string", "const": 1 });
        for (unions, finds) in [(2, true), (10, false)] {
            let all: Vec<_> = (0..unions).map(either).collect();
            let schema = json!({ "allOf": all, "properties": { "q": contradiction } });
            if find("schema-unsatisfiable", &schema, 1)?.is_empty() == finds {
                return Err(format!("{unions} unions").into());
            }
        }
        Ok(())
    });
    let examples = Trial::test("checks/hostile/examples_past_the_limit", || {
        for (valid, finds) in [(99, true), (100, false)] {
            let mut values = vec![json!("x"); valid];
            values.push(json!(1));
            let schema = json!({ "type": "string", "examples": values });
            if find("examples-invalid", &schema, 1)?.is_empty() == finds {
                return Err(format!("{valid} valid examples").into());
            }
        }
        Ok(())
    });
    let compiled = Trial::test("checks/hostile/compiled_bytes_past_the_limit", || {
        // Each default compiles the whole schema of about 1,000,000 bytes, because of the reference.
        let property = json!({ "$ref": "#/$defs/d", "default": 1 });
        let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
        tool["inputSchema"]["$defs"]["d"] =
            json!({ "type": "string", "title": "x".repeat(1_000_000) });
        for index in 0..18 {
            tool["inputSchema"]["properties"][format!("p{index}")] = property.clone();
        }
        let options = LintOptions::default().select("default-invalid")?;
        match lint_tools(tool, &options).findings.len() {
            16 => Ok(()),
            count => Err(format!("{count} findings").into()),
        }
    });
    hostile.chain([many, more, contradictions, combinations, examples, compiled]).collect()
}

/// The messages of `rule` about a tool with `count` properties of this schema.
fn find(rule: &str, schema: &Value, count: usize) -> Result<Vec<String>, Failed> {
    let properties: Map<_, _> =
        (0..count).map(|index| (format!("p{index}"), schema.clone())).collect();
    let input = json!({ "type": "object", "properties": properties });
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

fn bounded(tool: &Value) -> Result<(), Failed> {
    let report = lint_tools(tool.clone(), &LintOptions::default());
    for rule in rules() {
        let all: Vec<_> =
            report.findings.iter().filter(|one| one.finding.rule == rule.id).collect();
        let longest =
            all.iter().map(|one| one.finding.pointer.as_str().len()).max().unwrap_or_default();
        let bytes: usize = all.iter().map(|one| one.finding.pointer.as_str().len()).sum();
        if all.len() > REPORTED || bytes > POINTERS + 2 * longest {
            return Err(format!("{}: {} findings, {bytes} bytes", rule.id, all.len()).into());
        }
    }
    Ok(())
}
