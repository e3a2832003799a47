//! What is seen at a glance, what is left to the engine, and where a look ends.

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::{Value, json};
use toolpact_schema::{Limits, Schema};

#[derive(Deserialize)]
struct Case {
    name: String,
    schema: Value,
    #[serde(default)]
    seen: Vec<Value>,
    /// Valid, but not seen to be.
    #[serde(default)]
    left: Vec<Value>,
    invalid: Vec<Value>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../cases/glance.json"))
        .unwrap_or_else(|error| panic!("glance.json: {error}"));
    let mut trials = vec![
        Trial::test("glance/ends_in_wide_instances", ends_in_wide_instances),
        Trial::test("glance/ends_in_deep_instances", ends_in_deep_instances),
        Trial::test("glance/ends_where_branches_multiply", ends_where_branches_multiply),
        Trial::test("glance/reads_no_long_chain", reads_no_long_chain),
        Trial::test("glance/keeps_to_lower_limits", keeps_to_lower_limits),
    ];
    trials.extend(
        cases
            .into_iter()
            .map(|case| Trial::test(format!("glance/{}", case.name), move || sees(&case))),
    );
    trials
}

fn sees(case: &Case) -> Result<(), Failed> {
    let schema = Schema::compile(&case.schema)?;
    for (values, is_valid, is_seen) in
        [(&case.seen, true, true), (&case.left, true, false), (&case.invalid, false, false)]
    {
        for value in values {
            let found = (schema.is_valid(value), schema.is_valid_at_a_glance(value));
            if found != (is_valid, is_seen) {
                return Err(format!("{value}: valid, seen: {found:?}").into());
            }
        }
    }
    Ok(())
}

fn is_left(schema: &Schema, value: &Value) -> Result<(), Failed> {
    match (schema.is_valid_at_a_glance(value), schema.is_valid(value)) {
        (false, true) => Ok(()),
        found => Err(format!("seen, valid: {found:?}").into()),
    }
}

fn ends_in_wide_instances() -> Result<(), Failed> {
    let schema = Schema::compile(&json!({
        "items": { "type": "integer" },
        "properties": { "a": {} }
    }))?;
    is_left(&schema, &json!(vec![1; 100_000]))?;
    let members: serde_json::Map<_, _> = (0..100_000).map(|n| (n.to_string(), json!(n))).collect();
    is_left(&schema, &members.into())
}

fn ends_in_deep_instances() -> Result<(), Failed> {
    let schema = Schema::compile(&json!({ "items": { "$ref": "#" } }))?;
    let deep = |levels| (0..levels).fold(json!([]), |inner, _| json!([inner]));
    if !schema.is_valid_at_a_glance(&deep(40)) {
        return Err("40 levels are not seen".into());
    }
    is_left(&schema, &deep(100))
}

/// Each level tries the one below twice.
fn ends_where_branches_multiply() -> Result<(), Failed> {
    let level = |at: usize| {
        let below = json!({ "$ref": format!("#/$defs/{}", at + 1) });
        (at.to_string(), json!({ "allOf": [below, below] }))
    };
    let mut levels: serde_json::Map<_, _> = (0..6).map(level).collect();
    levels.insert("6".to_owned(), json!({ "type": "integer" }));
    let schema = Schema::compile(&json!({ "$defs": levels, "items": { "$ref": "#/$defs/0" } }))?;
    if !schema.is_valid_at_a_glance(&json!([1])) {
        return Err("one item is not seen".into());
    }
    is_left(&schema, &json!(vec![1; 200]))
}

fn reads_no_long_chain() -> Result<(), Failed> {
    let level = |at: usize| {
        let below = json!({ "$ref": format!("#/$defs/{}", at + 1) });
        (at.to_string(), json!({ "properties": { "a": below } }))
    };
    let mut levels: serde_json::Map<_, _> = (0..4000).map(level).collect();
    levels.insert("4000".to_owned(), json!({ "type": "integer" }));
    let schema = Schema::compile(&json!({ "$defs": levels, "$ref": "#/$defs/0" }))?;
    is_left(&schema, &json!({ "a": {} }))
}

/// Where the engine might not come to an end, a glance does not say more than it.
fn keeps_to_lower_limits() -> Result<(), Failed> {
    for name in ["fuel", "instance-depth", "nesting"] {
        let mut limits = Limits::default();
        if !limits.set(name, 100) {
            return Err(format!("no limit is called {name}").into());
        }
        let schema = Schema::options().limits(limits).compile(&json!({ "type": "integer" }))?;
        is_left(&schema, &json!(1))?;
    }
    Ok(())
}
