//! Arguments that were valid, corrupted as hosts and models do, and repaired.

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRng;
use serde_json::{Map, Value, json};
use toolbond_contract::{Contract, Mode, Outcome};

use crate::runner;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("repaired/corrupted_calls_return_to_what_they_were", corrupted_calls),
        Trial::test("repaired/valid_arguments_never_change", valid_arguments),
        Trial::test("repaired/what_leaves_is_valid_and_stays", what_leaves),
        Trial::test("repaired/hostile_text_is_refused_within_bounds", hostile_text),
    ]
}

/// A schema, and a value that is valid under it.
#[derive(Clone, Debug)]
struct Typed {
    schema: Value,
    value: Value,
    /// Whether a string may stand here: then text is text.
    takes_strings: bool,
    parts: Parts,
}

#[derive(Clone, Debug)]
enum Parts {
    None,
    Enum,
    Items(Vec<Typed>),
    Members(Vec<(String, Typed)>),
}

fn leaf() -> impl Strategy<Value = Typed> {
    let words = prop::sample::select(vec!["a", "10", "true", "null", "[1]", "{}", "Red", ""]);
    let typed = |schema: Value, value: Value, takes_strings, parts| Typed {
        schema,
        value,
        takes_strings,
        parts,
    };
    prop_oneof![
        (-1000..1000_i64).prop_map(move |n| typed(
            json!({ "type": "integer" }),
            n.into(),
            false,
            Parts::None
        )),
        (-1e6..1e6_f64).prop_map(move |n| typed(
            json!({ "type": "number" }),
            n.into(),
            false,
            Parts::None
        )),
        any::<bool>().prop_map(move |b| typed(
            json!({ "type": "boolean" }),
            b.into(),
            false,
            Parts::None
        )),
        words.clone().prop_map(move |text| typed(
            json!({ "type": "string" }),
            text.into(),
            true,
            Parts::None
        )),
        words.prop_map(move |text| {
            let schema = json!({ "type": ["string", "integer"] });
            typed(schema, text.into(), true, Parts::None)
        }),
        prop::sample::select(vec!["red", "dark blue", "green"]).prop_map(move |text| {
            let schema = json!({ "enum": ["red", "dark blue", "green"] });
            typed(schema, text.into(), false, Parts::Enum)
        }),
    ]
}

/// One schema for all items: that of the first, which the others follow.
fn typed() -> BoxedStrategy<Typed> {
    leaf()
        .prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                (inner.clone(), 0..4_usize).prop_map(|(item, count)| Typed {
                    schema: json!({ "type": "array", "items": item.schema }),
                    value: json!(vec![item.value.clone(); count]),
                    takes_strings: false,
                    parts: Parts::Items(vec![item; count]),
                }),
                object(inner.clone()),
                inner.prop_map(|typed| Typed {
                    schema: json!({ "anyOf": [typed.schema, { "type": "null" }] }),
                    ..typed
                }),
            ]
        })
        .boxed()
}

fn object(member: impl Strategy<Value = Typed> + 'static) -> impl Strategy<Value = Typed> {
    let members = prop::collection::vec((member, any::<bool>()), 0..4);
    (members, any::<bool>()).prop_map(|(members, is_closed)| {
        let named: Vec<(String, Typed, bool)> = members
            .into_iter()
            .enumerate()
            .map(|(index, (typed, is_required))| (format!("p{index}"), typed, is_required))
            .collect();
        let properties: Map<String, Value> =
            named.iter().map(|(name, typed, _)| (name.clone(), typed.schema.clone())).collect();
        let required: Vec<&String> =
            named.iter().filter(|(_, _, required)| *required).map(|(name, _, _)| name).collect();
        let mut schema = json!({
            "type": "object", "properties": properties, "required": required,
        });
        // A declared property that is not given, for a `null` to stand in.
        schema["properties"]["absent"] = json!({ "type": "integer" });
        if is_closed {
            schema["additionalProperties"] = false.into();
        }
        let value = named.iter().map(|(name, typed, _)| (name.clone(), typed.value.clone()));
        Typed {
            schema,
            value: Value::Object(value.collect()),
            takes_strings: false,
            parts: Parts::Members(
                named.into_iter().map(|(name, typed, _)| (name, typed)).collect(),
            ),
        }
    })
}

/// `typed`, written wrong in places that `rng` chooses.
fn corrupt(typed: &Typed, rng: &mut TestRng) -> Value {
    let value = match &typed.parts {
        Parts::None => typed.value.clone(),
        Parts::Enum => match (rng.random_range(0..4), typed.value.as_str()) {
            (0, Some(text)) => text.to_uppercase().into(),
            (1, Some(text)) => format!(" {text}\n").into(),
            _ => typed.value.clone(),
        },
        Parts::Items(items) => items.iter().map(|item| corrupt(item, rng)).collect(),
        Parts::Members(members) => {
            let mut object: Map<String, Value> =
                members.iter().map(|(name, typed)| (name.clone(), corrupt(typed, rng))).collect();
            if rng.random_range(0..4) == 0 {
                object.insert("absent".to_owned(), Value::Null);
            }
            object.into()
        }
    };
    let is_text = typed.takes_strings || matches!(typed.parts, Parts::Enum);
    if !is_text && rng.random_range(0..3) == 0 { value.to_string().into() } else { value }
}

fn contract(schema: &Value) -> Contract {
    let tool = json!({ "name": "t", "inputSchema": schema });
    Contract::received(tool).expect("a schema within the limits")
}

fn corrupted_calls() -> Result<(), Failed> {
    const CALLS: usize = 4000;
    let mut runner = runner(1);
    let strategy = object(typed()).boxed();
    let (mut corrupted, mut returned) = (0, 0);
    let mut lost = Vec::new();
    while corrupted < CALLS {
        let typed = strategy.new_tree(&mut runner)?.current();
        let given = match corrupt(&typed, runner.rng()) {
            Value::String(text) => serde_json::from_str(&text)?,
            given => given,
        };
        if given == typed.value {
            continue;
        }
        let contract = contract(&typed.schema);
        let judged = contract.judge_arguments(Some(&given), Mode::Repair);
        if judged.outcome == Outcome::Valid {
            continue;
        }
        corrupted += 1;
        match judged.repaired {
            Some(repaired) if repaired.arguments == typed.value => returned += 1,
            Some(repaired) => {
                let message = format!(
                    "another value: {}\nwas: {}\ngiven: {given}\ncame: {}",
                    typed.schema, typed.value, repaired.arguments
                );
                return Err(message.into());
            }
            None => lost.push(format!("{given} under {}", typed.schema)),
        }
    }
    if returned * 100 < corrupted * 99 {
        lost.truncate(5);
        return Err(format!("{returned} of {corrupted} returned:\n{}", lost.join("\n")).into());
    }
    Ok(())
}

fn valid_arguments() -> Result<(), Failed> {
    runner(1000).run(&object(typed()), |typed| {
        let judged = contract(&typed.schema).judge_arguments(Some(&typed.value), Mode::Repair);
        prop_assert_eq!(judged.outcome, Outcome::Valid);
        prop_assert!(judged.repaired.is_none() && judged.findings.is_empty());
        Ok(())
    })?;
    Ok(())
}

/// Any value against any schema: what comes out is valid, and a second repair changes nothing.
fn what_leaves() -> Result<(), Failed> {
    runner(2000).run(&(object(typed()), typed()), |(schema, other)| {
        let contract = contract(&schema.schema);
        let arguments = json!({ "p0": other.value, "p1": other.value.to_string() });
        let judged = contract.judge_arguments(Some(&arguments), Mode::Repair);
        if let Some(repaired) = judged.repaired {
            let again = contract.judge_arguments(Some(&repaired.arguments), Mode::Repair);
            prop_assert_eq!(again.outcome, Outcome::Valid);
            prop_assert!(!judged.findings.is_empty() && judged.refusal.is_none());
        } else if judged.outcome != Outcome::Valid {
            prop_assert!(judged.refusal.is_some());
        }
        Ok(())
    })?;
    Ok(())
}

fn hostile_text() -> Result<(), Failed> {
    let contract = contract(&json!({
        "type": "object",
        "properties": { "a": { "type": "array" }, "o": { "type": "object" }, "n": { "type": "number" } }
    }));
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let long = format!("[{}0]", "0,".repeat(600_000));
    let keys = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(1000));
    let many: Vec<Value> = (0..5000).map(|n| n.to_string().into()).collect();
    let numbers = contract_of_numbers();
    for (contract, arguments) in [
        (&contract, json!({ "a": deep })),
        (&contract, json!({ "a": long })),
        (&contract, json!({ "o": keys })),
        (&contract, json!({ "n": "1e400" })),
        (&contract, json!({ "n": "9".repeat(100_000) })),
        (&contract, json!({ "a": "[".repeat(900_000) })),
        (&numbers, json!({ "a": many })),
    ] {
        let judged = contract.judge_arguments(Some(&arguments), Mode::Repair);
        let fuel = contract.input().schema().limits().fuel;
        if judged.refusal.is_none() || judged.fuel > 4 * fuel {
            let text: String = arguments.to_string().chars().take(60).collect();
            return Err(format!("{text}: {:?} {}", judged.outcome, judged.fuel).into());
        }
    }
    Ok(())
}

/// More numbers than one call may have repaired.
fn contract_of_numbers() -> Contract {
    contract(&json!({ "type": "object", "properties": {
        "a": { "type": "array", "items": { "type": "integer" } } } }))
}
