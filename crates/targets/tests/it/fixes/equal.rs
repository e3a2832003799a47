//! Whether two tools accept the same values.

use jsonschema::canonical::{CanonicalSchema, Containment, options};
use libtest_mimic::Failed;
use serde_json::Value;
use toolbond_harness::generate::{Rng, sample, value};
use toolbond_schema::Schema;

/// The values that each pair of schemas is tried with.
const VALUES: u64 = 100;

/// Fails if a tool of `before` accepts a value that its fixed form in `after` refuses, or the other way around. Schemas
/// that were not admitted before accept nothing to compare with.
pub(crate) fn compare(before: &Value, after: &Value) -> Result<(), Failed> {
    for (before, after) in tools(before).iter().zip(tools(after)) {
        for side in ["inputSchema", "outputSchema"] {
            let (Some(before), Some(after)) = (before.get(side), after.get(side)) else { continue };
            if before != after && side == "inputSchema" {
                same(&of_objects(before), &of_objects(after))?;
            } else if before != after {
                same(before, after)?;
            }
        }
    }
    Ok(())
}

/// The tools of a list, or the only tool.
pub(crate) fn tools(document: &Value) -> &[Value] {
    document["tools"].as_array().map_or_else(|| std::slice::from_ref(document), Vec::as_slice)
}

/// Arguments are objects, also where an input schema does not say so.
fn of_objects(schema: &Value) -> Value {
    match schema {
        Value::Object(map) if !map.contains_key("type") => {
            let mut map = map.clone();
            map.insert("type".to_owned(), "object".into());
            map.into()
        }
        Value::Bool(true) => serde_json::json!({ "type": "object" }),
        schema => schema.clone(),
    }
}

fn same(before: &Value, after: &Value) -> Result<(), Failed> {
    let Ok(old) = Schema::compile(before) else { return Ok(()) };
    let new = Schema::compile(after).map_err(|error| format!("{after}: {error}"))?;
    for seed in 0..VALUES {
        let mut rng = Rng::new(seed);
        let value = match seed % 3 {
            0 => value(&mut rng, 3),
            1 => sample(&mut rng, before, 6),
            _ => sample(&mut rng, after, 6),
        };
        if old.is_valid(&value) != new.is_valid(&value) {
            return Err(format!("{before} and {after} differ on {value}").into());
        }
    }
    if let (Some(old), Some(new)) = (canonical(before), canonical(after)) {
        for (one, other) in [(&old, &new), (&new, &old)] {
            if let Ok(Containment::No) = one.covers(other) {
                return Err(format!("{before} and {after} accept different values").into());
            }
        }
    }
    Ok(())
}

fn canonical(schema: &Value) -> Option<CanonicalSchema> {
    options().offline().should_validate_formats(false).canonicalize(schema).ok()
}
