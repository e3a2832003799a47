//! Arguments that were valid, corrupted as hosts and models do, and repaired.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{Contract, Mode, Outcome};
use toolbond_harness::generate::Rng;

use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("repaired/corrupted_calls_return_to_what_they_were", corrupted_calls),
        trial("repaired/what_leaves_is_valid_and_stays", what_leaves),
        trial("repaired/hostile_text_is_refused_within_bounds", hostile_text),
        trial("repaired/names_are_compared_within_the_fuel", many_names),
    ]
}

/// A schema, and a value that is valid under it.
type Typed = (Value, Value);

fn typed(rng: &mut Rng, depth: usize) -> Typed {
    let words = ["a", "10", "true", "null", "[1]", "{}", "Red", ""];
    let colours = ["red", "dark blue", "green"];
    let number = |rng: &mut Rng| i32::try_from(rng.below(2000)).unwrap_or(0) - 1000;
    match rng.below(if depth == 0 { 6 } else { 12 }) {
        0 => (json!({ "type": "integer" }), json!(number(rng))),
        1 => (json!({ "type": "number" }), json!(f64::from(number(rng)) / 7.0)),
        2 => (json!({ "type": "boolean" }), json!(rng.one_in(2))),
        3 => (json!({ "type": "string" }), json!(rng.pick(&words))),
        4 => (json!({ "type": ["string", "integer"] }), json!(rng.pick(&words))),
        5 => (json!({ "enum": colours }), json!(rng.pick(&colours))),
        6 | 7 => {
            let (schema, value) = typed(rng, depth - 1);
            (json!({ "type": "array", "items": schema }), json!(vec![value; rng.below(4)]))
        }
        8..=10 => object(rng, depth - 1),
        _ => {
            let (schema, value) = typed(rng, depth - 1);
            (json!({ "anyOf": [schema, { "type": "null" }] }), value)
        }
    }
}

fn object(rng: &mut Rng, depth: usize) -> Typed {
    // A declared property that is not given, for a `null` to stand in.
    let mut schema = json!({ "type": "object", "required": [], "properties": { "absent": { "type": "integer" } } });
    let mut object = json!({});
    let mut required = Vec::new();
    for name in (0..rng.below(4)).map(|index| format!("p{index}")) {
        let (property, value) = typed(rng, depth);
        schema["properties"][&name] = property;
        object[&name] = value;
        if rng.one_in(2) {
            required.push(name);
        }
    }
    schema["required"] = required.into();
    if rng.one_in(2) {
        schema["additionalProperties"] = false.into();
    }
    (schema, object)
}

/// `value`, written wrong in places that `rng` chooses.
fn corrupt(rng: &mut Rng, schema: &Value, value: &Value) -> Value {
    if let Some(branches) = schema.get("anyOf") {
        return corrupt(rng, &branches[0], value);
    }
    let corrupted: Value = match value {
        // Where a string may stand, text is text.
        Value::String(text) => {
            return match rng.below(4) {
                0 if schema.get("enum").is_some() => text.to_uppercase().into(),
                1 if schema.get("enum").is_some() => format!(" {text}\n").into(),
                _ => value.clone(),
            };
        }
        Value::Array(items) => {
            items.iter().map(|item| corrupt(rng, &schema["items"], item)).collect()
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                (name.clone(), corrupt(rng, &schema["properties"][name], value))
            });
            let mut members: Map<_, _> = members.collect();
            if rng.one_in(4) {
                members.insert("absent".to_owned(), Value::Null);
            }
            members.into()
        }
        value => value.clone(),
    };
    if rng.one_in(3) { corrupted.to_string().into() } else { corrupted }
}

fn contract(schema: &Value) -> Contract {
    let tool = json!({ "name": "t", "inputSchema": schema });
    Contract::received(tool).expect("a schema within the limits")
}

fn corrupted_calls() -> Result<(), Failed> {
    const CALLS: usize = 4000;
    let mut rng = Rng::new(0);
    let (mut corrupted, mut returned) = (0, 0);
    let mut lost = Vec::new();
    while corrupted < CALLS {
        let (schema, value) = object(&mut rng, 3);
        let contract = contract(&schema);
        let judged = contract.judge_arguments(Some(&value), Mode::Repair);
        assert_eq!(judged.outcome, Outcome::Valid, "{value} under {schema}");
        assert!(judged.repaired.is_none() && judged.findings.is_empty(), "{value} under {schema}");
        let given = match corrupt(&mut rng, &schema, &value) {
            Value::String(text) => serde_json::from_str(&text)?,
            given => given,
        };
        let judged = contract.judge_arguments(Some(&given), Mode::Repair);
        if given == value || judged.outcome == Outcome::Valid {
            continue;
        }
        corrupted += 1;
        match judged.repaired {
            Some(repaired) => {
                assert_eq!(repaired.arguments, value, "{given} under {schema}");
                returned += 1;
            }
            None => lost.push(format!("{given} under {schema}")),
        }
    }
    lost.truncate(5);
    let lost = lost.join("\n");
    assert!(returned * 100 >= corrupted * 99, "{returned} of {corrupted} returned:\n{lost}");
    Ok(())
}

/// Any value against any schema: what comes out is valid, and a second repair changes nothing.
fn what_leaves() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let ((schema, _), (_, other)) = (object(&mut rng, 3), typed(&mut rng, 3));
        let contract = contract(&schema);
        let arguments = json!({ "p0": other, "p1": other.to_string() });
        let judged = contract.judge_arguments(Some(&arguments), Mode::Repair);
        if let Some(repaired) = judged.repaired {
            let again = contract.judge_arguments(Some(&repaired.arguments), Mode::Repair);
            assert_eq!(again.outcome, Outcome::Valid, "{arguments} under {schema}");
            assert!(
                !judged.findings.is_empty() && judged.refusal.is_none(),
                "{:?}",
                judged.findings
            );
        } else if judged.outcome != Outcome::Valid {
            assert!(judged.refusal.is_some(), "{arguments} under {schema}");
        }
    }
}

fn hostile_text() {
    let contract = contract(&json!({ "type": "object", "properties": {
        "a": { "type": "array" },
        "o": { "type": "object" },
        "n": { "type": "number" },
        "numbers": { "type": "array", "items": { "type": "integer" } }
    } }));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let long = format!("[{}0]", "0,".repeat(600_000));
    let keys = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(1000));
    let many: Vec<Value> = (0..5000).map(|n| n.to_string().into()).collect();
    for arguments in [
        json!({ "a": deep }),
        json!({ "a": long }),
        json!({ "o": keys }),
        json!({ "n": "1e400" }),
        json!({ "n": "9".repeat(100_000) }),
        json!({ "a": "[".repeat(900_000) }),
        // More numbers than one call may have repaired.
        json!({ "numbers": many }),
    ] {
        let judged = contract.judge_arguments(Some(&arguments), Mode::Repair);
        let fuel = contract.input().schema().limits().fuel;
        let text: String = arguments.to_string().chars().take(60).collect();
        let is_refused = judged.refusal.is_some() && judged.fuel <= 4 * fuel;
        assert!(is_refused, "{text}: {:?} {}", judged.outcome, judged.fuel);
    }
}

/// Extra properties whose names take longer to compare with the declared ones than the fuel allows.
fn many_names() {
    let named = |letter: &str, count: usize| -> Map<String, Value> {
        (0..count).map(|index| (format!("{}{index}", letter.repeat(150)), json!({}))).collect()
    };
    let contract = contract(&json!({ "type": "object", "additionalProperties": false,
        "properties": named("a", 500) }));
    let judge = |count, fuel| {
        let arguments = Value::Object(named("z", count));
        contract.judge_arguments_within(Some(&arguments), Mode::Repair, fuel)
    };
    assert!(judge(32, 1_000_000).is_none());
    let repaired = judge(1, u64::MAX).expect("it is decided").repaired;
    assert_eq!(repaired.expect("it is repaired").arguments, json!({}));
}
