//! Large instances: little memory, and the verdicts of the same values.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_schema::{Instance, Schema};

use crate::memory;

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
    let (accepted, taken) = memory::taken_by(|| {
        let instance = Instance::parse(text)?;
        // What counts is memory; it may well take more than the default fuel.
        Ok::<_, Failed>(schema.accepts(&instance, u64::MAX))
    });
    accepted?;
    // Validating takes a little, however large the instance is.
    if taken > u64::try_from(said)? + (16 << 10) {
        return Err(format!("took {taken} bytes, not {said}").into());
    }
    Ok(())
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
