//! Random documents: what is valid with the documents at hand is valid under the bundle and its flat form.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value};
use toolbond_contract::bundle::{bundle, flatten, missing};
use toolbond_harness::generate::Rng;
use toolbond_schema::{Options, Schema};

use super::world::{World, instance};
use crate::project::random::schemas;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("bundle/random", holds)]
}

/// What the cases were.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    refused: usize,
    with_documents: usize,
    /// Flat forms of those with documents, and those of several dialects among them.
    flat: usize,
    converted: usize,
    valid: usize,
    invalid: usize,
}

fn holds() -> Result<(), Failed> {
    let cases = 8 * schemas();
    let mut counts = Counts::default();
    for seed in 0..cases {
        let mut rng = Rng::new(seed as u64);
        let world = World::new(&mut rng);
        check(&world, &mut rng, &mut counts).map_err(|fault| format!("{fault} in {world:#?}"))?;
    }
    let is_telling = 3 * counts.with_documents > cases
        && counts.invalid > cases / 2
        && counts.valid > cases
        && counts.refused < cases / 10
        && 10 * counts.flat > 9 * counts.with_documents
        && counts.converted > cases / 10;
    assert!(is_telling, "few of {cases} cases tell anything: {counts:?}");
    Ok(())
}

fn check(world: &World, rng: &mut Rng, counts: &mut Counts) -> Result<(), String> {
    let World { schema, named_schema, base, documents, by_uri } = world;
    let base = base.as_deref();
    let bundled = bundle(schema, base, documents).map_err(|error| error.to_string())?;
    assert_eq!(missing(schema, base, documents), Ok(Vec::new()), "missing in {world:#?}");
    let again = bundle(&bundled, base, documents);
    assert!(matches!(again, Ok(Cow::Borrowed(_))), "again: {again:?} of {bundled}");
    let flat = flatten(&bundled).ok();
    if let Some(flat) = &flat {
        let again = flatten(flat);
        assert!(matches!(again, Ok(Cow::Borrowed(_))), "again: {again:?} of {flat}");
    }
    let options = by_uri.iter().cloned();
    let options = options.fold(Options::default(), |options, (uri, it)| options.document(uri, it));
    let Ok(before) = options.compile(named_schema) else {
        counts.refused += 1;
        return Ok(());
    };
    let compile =
        |after: &Value| Schema::compile(after).map_err(|error| format!("{error}: {after}"));
    let after = [Some(compile(&bundled)?), flat.as_deref().map(compile).transpose()?];
    for instance in (0..8).map(|_| instance(rng, 4)) {
        let valid = before.is_valid(&instance);
        for after in after.iter().flatten() {
            if after.is_valid(&instance) != valid {
                return Err(format!("{instance} is {valid}, not under {}", after.source()));
            }
        }
        *(if valid { &mut counts.valid } else { &mut counts.invalid }) += 1;
    }
    if definitions(&bundled) > definitions(schema) {
        counts.with_documents += 1;
        counts.flat += usize::from(flat.is_some());
        let is_converted = flat.is_some_and(|flat| flat.get("$schema") != bundled.get("$schema"));
        counts.converted += usize::from(is_converted);
    }
    Ok(())
}

fn definitions(schema: &Value) -> usize {
    let holders = ["$defs", "definitions"].into_iter();
    holders.filter_map(|holder| schema.get(holder)?.as_object()).map(Map::len).sum()
}
