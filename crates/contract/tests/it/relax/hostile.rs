//! Schemas, values and remembered steps of somebody who means harm: bounded, and nothing that accepts less.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{Relaxation, relax, relax::MAX_STEPS};
use toolbond_schema::Schema;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("relax/hostile/too_much_is_given_up", too_much),
        Trial::test("relax/hostile/steps_that_do_not_fit_are_refused", wrong_steps),
        Trial::test("relax/hostile/recursion_through_not", recursion),
    ]
}

fn too_much() -> Result<(), Failed> {
    let many = |count: usize, schema: &Value| -> Map<String, Value> {
        (0..count).map(|at| (format!("p{at}"), schema.clone())).collect()
    };
    // One step for each property: more than a relaxation has.
    let count = MAX_STEPS + 1;
    let author =
        Schema::compile(&json!({ "properties": many(count, &json!({ "type": "string" })) }))?;
    let value = Value::Object(many(count, &json!(1)));
    assert_eq!(relax(&author, &Relaxation::default(), &value), None);
    let few = relax(&author, &Relaxation::default(), &many(20, &json!(1)).into());
    assert_eq!(few.ok_or("20 steps are not too many")?.steps().len(), 20);
    // Long names.
    let name = "n".repeat(20_000);
    let author = Schema::compile(&json!({ "properties": { &name: { "type": "string" } } }))?;
    assert_eq!(relax(&author, &Relaxation::default(), &json!({ &name: 1 })), None);
    // A value that takes more than the fuel.
    let mut limits = author.limits().clone();
    limits.fuel = 1000;
    let author =
        Schema::options().limits(limits).compile(&json!({ "items": { "type": "string" } }))?;
    assert_eq!(relax(&author, &Relaxation::default(), &json!(vec![1; 5000])), None);
    // Many schemas that invert.
    let not = json!({ "not": { "$ref": "#/$defs/d" } });
    let author = Schema::compile(&json!({
        "properties": many(2000, &not), "required": ["x"],
        "additionalProperties": { "$ref": "#/$defs/d" },
        "$defs": { "d": { "type": "integer" } }
    }))?;
    assert_eq!(relax(&author, &Relaxation::default(), &json!({ "x": {} })), None);
    Ok(())
}

fn wrong_steps() -> Result<(), Failed> {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": false, "c": { "not": { "type": "null" } } },
        "required": ["a"],
        "oneOf": [{}],
        "default": { "type": "string" }
    });
    let apply = |steps: Value| -> Result<Option<Value>, Failed> {
        Ok(serde_json::from_value::<Relaxation>(steps)?.apply(&schema))
    };
    let step = |at: &str, change: Value| json!([{ "at": at, "change": change }]);
    assert!(apply(step("#/properties/a", json!({ "allow": "null" })))?.is_some());
    for (at, change) in [
        ("#/properties/z", json!({ "allow": "null" })),
        ("#/default", json!({ "allow": "null" })),
        ("#/properties/a", json!("accept")),
        ("#", json!({ "optional": 1 })),
        ("#", json!({ "drop": "anyOf" })),
        ("#", json!({ "allow-beside-ref": "null" })),
        ("#", json!({ "branch": "null" })),
        // Below `not` it would accept less.
        ("#/properties/c/not", json!({ "allow": "string" })),
    ] {
        assert_eq!(apply(step(at, change.clone()))?, None, "{at} {change}");
    }
    let many: Value = (0..=MAX_STEPS)
        .map(|_| step("#/properties/a", json!({ "allow": "null" }))[0].clone())
        .collect();
    assert_eq!(apply(many)?, None);
    for wrong in
        [json!({ "drop": "properties" }), json!({ "drop": "x" }), json!({ "allow": "x" }), json!(1)]
    {
        assert!(serde_json::from_value::<Relaxation>(step("#", wrong.clone())).is_err(), "{wrong}");
    }
    Ok(())
}

fn recursion() -> Result<(), Failed> {
    // What it accepts is what it refuses one level up.
    let author = Schema::compile(&json!({
        "$ref": "#/$defs/n",
        "$defs": { "n": { "properties": { "a": { "not": { "$ref": "#/$defs/n" } } }, "required": ["b"] } }
    }))?;
    let value = json!({ "a": { "b": 1 } });
    let relaxation = relax(&author, &Relaxation::default(), &value).ok_or("it is not relaxed")?;
    let after = relaxation.apply(author.source()).ok_or("it does not apply")?;
    let after = Schema::compile(&after)?;
    for value in
        [value, json!({ "b": 1 }), json!({ "a": 1, "b": 1 }), json!({ "a": {}, "b": 1 }), json!(1)]
    {
        assert!(after.is_valid(&value), "{value} under {}", after.source());
    }
    Ok(())
}
