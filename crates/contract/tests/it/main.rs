//! What the contract crate is held to. Each module lists its cases; a case is data with a name.

mod bundle;
mod dialect;
mod judge;
mod project;
mod relax;
mod results;

use libtest_mimic::{Arguments, Trial};
use serde_json::{Map, Value};
use toolbond_schema::Schema;

/// A trial that fails where `check` panics.
fn trial(name: &str, check: fn()) -> Trial {
    Trial::test(name, move || {
        check();
        Ok(())
    })
}

/// Fails unless `found` is `wanted` to the order of its members.
#[track_caller]
fn assert_same(found: &Value, wanted: &Value, what: &str) {
    let (found, wanted) = (found.to_string(), wanted.to_string());
    assert!(found == wanted, "{what}: expected {wanted}, found {found}");
}

/// Fails unless `schema` accepts the `valid` values of a case and refuses the `invalid` ones.
#[track_caller]
fn assert_verdicts(schema: &Schema, case: &Value) {
    for (list, valid) in [("valid", true), ("invalid", false)] {
        for value in case[list].as_array().into_iter().flatten() {
            let source = schema.source();
            assert!(schema.is_valid(value) == valid, "{value} should be {list} under {source}");
        }
    }
}

/// `schema` below `levels` of `not`, built without recursion.
fn deep(levels: usize, schema: Value) -> Value {
    (0..levels).fold(schema, |schema, _| Map::from_iter([("not".to_owned(), schema)]).into())
}

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = [
        bundle::trials(),
        dialect::trials(),
        judge::trials(),
        project::trials(),
        relax::trials(),
        results::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
