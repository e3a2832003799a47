//! Large instances: little memory, and the verdicts of the same values.

use std::fs;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_schema::{Instance, Schema};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("instances/large_array_takes_the_memory_it_says", || {
            takes_what_it_says(&format!("[{}0]", "0,".repeat(8 << 20)))
        }),
        Trial::test("instances/large_object_takes_the_memory_it_says", || {
            let members: Vec<String> = (0..1_000_000).map(|n| format!("\"m{n}\":0")).collect();
            takes_what_it_says(&format!("{{{}}}", members.join(",")))
        }),
        Trial::test("instances/escaped_strings_take_the_memory_they_say", || {
            takes_what_it_says(&format!("[{}0]", r#""\n\u0041","#.repeat(1_500_000)))
        }),
        Trial::test("instances/members_of_large_objects_are_found", members_are_found),
    ]
}

fn takes_what_it_says(text: &str) -> Result<(), Failed> {
    let schema = Schema::compile(&json!({
        "items": { "type": ["integer", "string"] },
        "additionalProperties": { "type": "integer" }
    }))?;
    let said = Instance::memory(text);
    if said > 9 * text.len() {
        return Err(format!("{said} bytes for a text of {}", text.len()).into());
    }
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = kibibytes("VmRSS:");
    let instance = Instance::parse(text)?;
    // What is measured is memory; it may well take more than the default fuel.
    _ = schema.accepts(&instance, u64::MAX);
    let taken = kibibytes("VmHWM:").saturating_sub(before) << 10;
    // Other tests in the same process would count too; nextest gives each a process of its own.
    if std::env::var_os("NEXTEST").is_some() && taken > said + (1 << 20) {
        return Err(format!("took {taken} bytes, not {said}").into());
    }
    Ok(())
}

fn kibibytes(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default()
}

fn members_are_found() -> Result<(), Failed> {
    let names = || (0..2000).map(|n| format!("m{n}"));
    let value: Value = names().map(|name| (name, json!(1))).collect();
    let required: Vec<String> = names().collect();
    for (required, properties, is_valid) in [
        (required.clone(), json!({}), true),
        (vec!["m".to_owned()], json!({}), false),
        (vec![], json!({ "m1999": { "const": 1 } }), true),
        (vec![], json!({ "m1999": { "const": 2 } }), false),
    ] {
        let schema = Schema::compile(&json!({ "required": required, "properties": properties }))?;
        let text = value.to_string();
        let accepted = schema.accepts(&Instance::parse(&text)?, u64::MAX);
        if accepted.is_some() != is_valid || schema.is_valid(&value) != is_valid {
            return Err(format!("{}: {accepted:?}", schema.source()).into());
        }
    }
    Ok(())
}
