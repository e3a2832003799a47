//! The cases of `tests/cases/arguments/repairs.json`.

use serde_json::Value;
use toolbond_harness::embedded;
use toolbond_schema::{Schema, Verdict};

use super::{Repaired, Repairs, repair};

const FUEL: u64 = 10_000_000;

fn run(schema: &Schema, arguments: &Value, also: &[&str]) -> Option<Repaired> {
    let Verdict::Invalid(violations) = schema.validate(arguments) else { panic!("it is valid") };
    let repairs = also.iter().fold(Repairs::default(), |all, id| all.also(id).unwrap());
    repair(schema, arguments, &violations, &repairs.active(), FUEL).unwrap().ok()
}

#[test]
fn cases() {
    check(|schema| Some(schema.clone()));
}

#[test]
fn cases_with_an_embedded_resource() {
    check(embedded::whole);
}

#[test]
fn cases_with_an_embedded_resource_for_each_property() {
    check(embedded::properties);
}

/// Checks the cases with what `form` makes of their schemas.
fn check(form: fn(&Value) -> Option<Value>) {
    let cases = include_str!("../../tests/cases/arguments/repairs.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let Some(schema) = form(&case["schema"]) else { continue };
        let schema = Schema::compile(&schema).unwrap();
        let also: Vec<&str> =
            case["also"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let found = run(&schema, &case["arguments"], &also);
        let rules: Vec<String> = found
            .iter()
            .flat_map(|repaired| &repaired.changes)
            .map(|change| format!("{} {}", change.rule.id, change.pointer))
            .collect();
        let expected: Vec<&str> =
            case["rules"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let found = found.map(|repaired| repaired.arguments);
        if found.as_ref() != case.get("becomes") || (!expected.is_empty() && rules != expected) {
            wrong.push(format!("{}: {found:?} {rules:?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
