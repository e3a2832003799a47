//! Random schemas of older dialects: validity is the same after converting, and the original is restored.

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{Severity, convert_tool, revert_tool};
use toolbond_harness::generate::Rng;
use toolbond_schema::{Dialect, Schema};

use crate::assert_same;
use crate::project::random::{Random, schemas};

const VALUES: usize = 24;

pub(crate) fn trials() -> Vec<Trial> {
    let older = Dialect::ALL.into_iter().filter(|dialect| *dialect < Dialect::Draft202012);
    older
        .map(|dialect| Trial::test(format!("dialect/random/{dialect}"), move || holds(dialect)))
        .collect()
}

fn holds(dialect: Dialect) -> Result<(), Failed> {
    let mut random = Random::new(!(dialect as u64), dialect);
    let (mut converted_schemas, mut valid_values, mut refused) = (0, 0, 0);
    for _ in 0..4 * schemas() {
        let mut schema = random.document();
        add_unknown(&mut random.rng, dialect, &mut schema);
        // The engine lets `contains` evaluate items in 2019-09 too, which the specification does not.
        let has = |keyword: &str| schema.to_string().contains(&format!("\"{keyword}\":"));
        if dialect == Dialect::Draft201909 && has("contains") && has("unevaluatedItems") {
            continue;
        }
        let Ok(before) = Schema::compile(&schema) else { continue };
        let tool = json!({ "name": "random", "outputSchema": schema });
        let converted = convert_tool(&tool);
        if converted.findings.iter().any(|finding| finding.severity > Severity::Info) {
            refused += 1;
            continue;
        }
        assert_same(&revert_tool(&converted.tool), &tool, "restored");
        let after = &converted.tool["outputSchema"];
        let again =
            Schema::compile(after).map_err(|error| format!("{error}: {schema} as {after}"))?;
        for _ in 0..VALUES {
            let value = random.value(3);
            let valid = before.is_valid(&value);
            let is_kept = again.is_valid(&value) == valid;
            assert!(is_kept, "{value}: {valid} under {schema}, not under {after}");
            valid_values += usize::from(valid);
        }
        converted_schemas += 1;
    }
    assert!(
        refused < converted_schemas && valid_values > converted_schemas,
        "{converted_schemas} schemas, {valid_values} valid values, {refused} refused"
    );
    Ok(())
}

/// Adds keywords that `dialect` does not know to some of the schemas in `value`.
fn add_unknown(rng: &mut Rng, dialect: Dialect, value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| add_unknown(rng, dialect, value)),
        Value::Object(map) => {
            let is_schema = ["type", "allOf", "anyOf", "items", "$ref", "required", "not"]
                .iter()
                .any(|keyword| map.contains_key(*keyword));
            for (keyword, inner) in map.iter_mut() {
                if !matches!(keyword.as_str(), "const" | "enum" | "required") {
                    add_unknown(rng, dialect, inner);
                }
            }
            if is_schema && rng.one_in(3) {
                map.extend(unknown(rng, dialect));
            }
        }
        _ => {}
    }
}

fn unknown(rng: &mut Rng, dialect: Dialect) -> Map<String, Value> {
    let mut all = vec![
        json!({ "prefixItems": [{ "type": "null" }] }),
        json!({ "$dynamicAnchor": "node" }),
        json!({ "$dynamicRef": "#node" }),
        json!({ "x-prefixItems": [] }),
    ];
    if dialect <= Dialect::Draft7 {
        all.extend([
            json!({ "dependentRequired": { "a": ["c"] } }),
            json!({ "dependentSchemas": { "a": { "not": {} } } }),
            json!({ "unevaluatedProperties": { "not": {} } }),
            json!({ "unevaluatedItems": { "not": {} } }),
            json!({ "minContains": 3, "maxContains": "many" }),
            json!({ "$anchor": "a b" }),
            json!({ "$recursiveRef": "#" }),
            json!({ "deprecated": "use another", "contentSchema": 1 }),
            json!({ "$defs": { "d0": { "items": [{ "type": "null" }] } } }),
            json!({ "$defs": { "d0": 5 } }),
        ]);
    }
    if dialect <= Dialect::Draft6 {
        all.push(json!({ "if": {}, "then": { "not": {} } }));
        all.push(json!({ "$comment": 1, "readOnly": "yes" }));
    }
    if dialect == Dialect::Draft4 {
        all.push(json!({ "const": 1 }));
        all.push(json!({ "contains": { "type": "null" } }));
        all.push(json!({ "propertyNames": { "maxLength": 0 } }));
        all.push(json!({ "$id": "elsewhere.json", "examples": 1 }));
    }
    let at = rng.below(all.len());
    all.swap_remove(at).as_object().cloned().unwrap_or_default()
}
