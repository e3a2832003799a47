//! Views of schemas that few people write: they lose nothing, and take no more than they must.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_harness::trials::none_of;
use toolbond_targets::{View, target, targets};

use crate::views::{self, problems};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("views/hostile/a_long_chain_of_definitions", a_long_chain_of_definitions),
        Trial::test("views/hostile/many_alternatives", many_alternatives),
        Trial::test("views/hostile/a_key_twice", a_key_twice),
        Trial::test("views/hostile/a_property_twice", a_property_twice),
    ]
}

fn view(schema: &Value, name: &str) -> Result<View, Failed> {
    Ok(views::view(&json!({ "name": "a", "inputSchema": schema }), target(name)?))
}

/// Each definition refers to the next: the stack must not grow with them.
fn a_long_chain_of_definitions() -> Result<(), Failed> {
    const LENGTH: usize = 1500;
    let next = |n: usize| json!({ "$ref": format!("#/$defs/d{}", (n + 1) % LENGTH) });
    let definition = |n: usize| json!({ "type": "object", "properties": { "next": next(n) } });
    let definitions: Map<_, _> = (0..LENGTH).map(|n| (format!("d{n}"), definition(n))).collect();
    let schema = json!({ "type": "object", "properties": { "a": next(0) }, "$defs": definitions });
    for target in targets() {
        assert_eq!(view(&schema, target.name)?.tool["inputSchema"]["type"], "object");
    }
    Ok(())
}

/// Thousands of alternatives are united into one without copying what is known again for each.
fn many_alternatives() -> Result<(), Failed> {
    let branch = |n: usize| json!({ "properties": { "k": { "const": n } }, "required": ["k"] });
    let branches: Vec<_> = (0..4000).map(branch).collect();
    let schema = json!({ "type": "object", "anyOf": branches });
    let view = view(&schema, "gemini")?;
    none_of(problems(&view, target("gemini")?, &[json!({ "k": 0 }), json!({ "k": 3999 })]))
}

/// Two values for one key are not restored to one of them: the full schema refuses the list.
fn a_key_twice() -> Result<(), Failed> {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let view = view(&json!({ "type": "object", "properties": { "p": map } }), "gemini")?;
    let twice = json!({ "p": [{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }] });
    assert_eq!(view.restore(twice.clone()), twice);
    Ok(())
}

/// A property that has a place of its own is not replaced by one among the others.
fn a_property_twice() -> Result<(), Failed> {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "additionalProperties": true
    });
    let view = view(&schema, "openai-strict")?;
    for call in [
        json!({ "a": "1", "other_properties": r#"{"a":"2","b":3}"# }),
        json!({ "other_properties": r#"{"a":"2","b":3}"#, "a": "1" }),
    ] {
        assert_eq!(view.restore(call), json!({ "a": "1", "b": 3 }));
    }
    Ok(())
}
