//! Random documents: what is valid with the documents at hand is valid under the bundle and its flat form.

use std::borrow::Cow;
use std::cell::Cell;

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Map, Value};
use toolbond_contract::bundle::{bundle, flatten, missing};
use toolbond_schema::Options;

use crate::project::random::schemas;
use crate::runner;

use super::world::{World, instance, world};

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("bundle/random", holds)]
}

/// What the cases were.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    refused: usize,
    without_documents: usize,
    with_documents: usize,
    rewritten: usize,
    /// Flat forms of those with documents, and those of several dialects among them.
    flat: usize,
    converted: usize,
    valid: usize,
    invalid: usize,
}

fn holds() -> Result<(), Failed> {
    let cases = u32::try_from(8 * schemas())?;
    let counts = Cell::new(Counts::default());
    let strategy = (world(), prop::collection::vec(instance(), 8));
    runner(cases).run(&strategy, |(world, instances)| {
        let mut next = counts.get();
        check(&world, &instances, &mut next)?;
        counts.set(next);
        Ok(())
    })?;
    let counts = counts.get();
    eprintln!("{counts:?}");
    let cases = counts.refused + counts.without_documents + counts.with_documents;
    let is_telling = 3 * counts.with_documents > cases
        && counts.invalid > cases / 2
        && counts.valid > cases
        && counts.refused < cases / 10
        && 10 * counts.flat > 9 * counts.with_documents
        && counts.converted > cases / 10;
    if is_telling { Ok(()) } else { Err(format!("few cases tell anything: {counts:?}").into()) }
}

fn check(world: &World, instances: &[Value], counts: &mut Counts) -> Result<(), TestCaseError> {
    let fail = |reason: String| TestCaseError::fail(format!("{reason} in {world:?}"));
    let (schema, named, documents) = (world.schema(), world.named_schema(), world.documents());
    let options = world
        .by_uri()
        .into_iter()
        .fold(Options::default(), |options, (uri, value)| options.document(uri, value));
    let base = world.base();
    let bundled = bundle(&schema, base.as_deref(), &documents)
        .map_err(|error| fail(format!("{error}: {schema} with {documents:?}")))?;
    prop_assert!(missing(&schema, base.as_deref(), &documents).is_ok_and(|list| list.is_empty()));
    let again = bundle(&bundled, base.as_deref(), &documents);
    prop_assert!(matches!(again, Ok(Cow::Borrowed(_))), "again: {again:?} of {bundled}");
    let flat = flatten(&bundled);
    if let Ok(flat) = &flat {
        let again = flatten(flat);
        prop_assert!(matches!(again, Ok(Cow::Borrowed(_))), "again: {again:?} of {flat}");
    }
    let Ok(before) = options.compile(&named) else {
        counts.refused += 1;
        return Ok(());
    };
    let after = Options::default().compile(&bundled);
    let after = after.map_err(|error| fail(format!("{error}: {bundled} of {schema}")))?;
    let of_flat = match &flat {
        Ok(flat) => {
            let compiled = Options::default().compile(flat);
            Some(compiled.map_err(|error| fail(format!("{error}: {flat} of {bundled}")))?)
        }
        Err(_) => None,
    };
    for instance in instances {
        let valid = before.is_valid(instance);
        if after.is_valid(instance) != valid {
            let reason = format!("{instance} is {valid} under {named} with {documents:#?}");
            return Err(fail(format!("{reason}, not under {bundled}")));
        }
        if of_flat.as_ref().is_some_and(|flat| flat.is_valid(instance) != valid) {
            return Err(fail(format!("{instance} is {valid} under {bundled}, not under {flat:?}")));
        }
        *(if valid { &mut counts.valid } else { &mut counts.invalid }) += 1;
    }
    let embeds = definitions(&bundled) > definitions(&schema);
    *(if embeds { &mut counts.with_documents } else { &mut counts.without_documents }) += 1;
    if let (true, Ok(flat)) = (embeds, &flat) {
        counts.flat += 1;
        let dialect = |schema: &Value| schema.get("$schema").cloned();
        counts.converted += usize::from(dialect(flat) != dialect(&bundled));
    }
    counts.rewritten += usize::from(matches!(bundled, Cow::Owned(_)) && !embeds);
    Ok(())
}

fn definitions(schema: &Value) -> usize {
    let holders = ["$defs", "definitions"].into_iter();
    holders.filter_map(|holder| schema.get(holder)?.as_object()).map(Map::len).sum()
}
