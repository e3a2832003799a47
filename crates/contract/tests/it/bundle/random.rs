//! Random documents: what is valid with the documents at hand is valid under the bundle.

use std::borrow::Cow;
use std::cell::Cell;

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;
use toolpact_contract::bundle::{bundle, missing};
use toolpact_schema::Options;

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
    valid: usize,
    invalid: usize,
}

fn holds() -> Result<(), Failed> {
    let cases = std::env::var("TOOLPACT_RANDOM").ok().and_then(|text| text.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(1500), failure_persistence: None, ..Config::default() };
    let counts = Cell::new(Counts::default());
    let strategy = (world(), prop::collection::vec(instance(), 8));
    TestRunner::new(config).run(&strategy, |(world, instances)| {
        let mut next = counts.get();
        check(&world, &instances, &mut next)?;
        counts.set(next);
        Ok(())
    })?;
    let counts = counts.get();
    eprintln!("{counts:?}");
    let least = counts.valid.min(counts.invalid).min(counts.with_documents);
    if least < counts.refused {
        Err(format!("few cases say anything: {counts:?}").into())
    } else {
        Ok(())
    }
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
    let before = match options.compile(&named) {
        Ok(before) => before,
        Err(_) => {
            counts.refused += 1;
            return Ok(());
        }
    };
    let after = Options::default().compile(&bundled);
    let after = after.map_err(|error| fail(format!("{error}: {bundled} of {schema}")))?;
    for instance in instances {
        let valid = before.is_valid(instance);
        if after.is_valid(instance) != valid {
            let reason = format!("{instance} is {valid} under {named} with {documents:#?}");
            return Err(fail(format!("{reason}, not under {bundled}")));
        }
        *(if valid { &mut counts.valid } else { &mut counts.invalid }) += 1;
    }
    let embeds = bundled.to_string().len() > schema.to_string().len() + 40;
    *(if embeds { &mut counts.with_documents } else { &mut counts.without_documents }) += 1;
    counts.rewritten += usize::from(matches!(bundled, Cow::Owned(_)) && !embeds);
    Ok(())
}
