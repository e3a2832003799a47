//! Random schemas and values: the verdict is that of the plain crate, and fuel does not vary.

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_harness::plain;
use toolbond_schema::{Dialect, Instance, Schema, SchemaErrorKind, Unfinished, Verdict};

use toolbond_harness::generate::{self, Rng};

const SEEDS: u64 = 8;
const SCHEMAS: usize = 400;
const VALUES: usize = 8;

pub(crate) fn trials() -> Vec<Trial> {
    (0..SEEDS)
        .map(|seed| Trial::test(format!("random/seed_{seed}"), move || agrees(seed)))
        .collect()
}

fn agrees(seed: u64) -> Result<(), Failed> {
    let mut rng = Rng::new(seed);
    let mut decided = 0;
    for _ in 0..SCHEMAS {
        let document = generate::document(&mut rng);
        let values: Vec<_> = (0..VALUES)
            .map(|n| match n % 2 {
                0 => generate::value(&mut rng, 3),
                _ => generate::sample(&mut rng, &document, 4),
            })
            .collect();
        if compare(&document, &values)? {
            decided += 1;
        }
    }
    // Schemas that call themselves on the same place are refused; most do not.
    if decided < SCHEMAS / 2 {
        return Err(format!("only {decided} of {SCHEMAS} schemas were admitted").into());
    }
    Ok(())
}

/// Whether `schema` was admitted; an error where ours and the plain crate differ.
pub(crate) fn compare(schema: &Value, values: &[Value]) -> Result<bool, Failed> {
    let ours = Schema::compile(schema);
    let theirs = plain::compile(Dialect::default(), false, &[], schema);
    let (ours, theirs) = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Ok(_), Err(error)) => return Err(format!("only plain refuses {schema}: {error}").into()),
        (Err(error), Ok(_)) if !is_ours_to_refuse(&error.kind) => {
            return Err(format!("only ours refuses {schema}: {error}").into());
        }
        (Err(_), _) => return Ok(false),
    };
    for value in values {
        let measured = ours.measure(value);
        if ours.measure(value) != measured {
            return Err(format!("two runs differ: {schema} with {value}").into());
        }
        accepts(&ours, value)?;
        if ours.is_valid(value) != measured.verdict.is_valid() {
            return Err(format!("`is_valid` and `measure` differ: {schema} with {value}").into());
        }
        for fuel in [0, 10, 100, 1000, 10_000, u64::MAX] {
            let within = ours.validate_within(value, fuel);
            let ran_out = within == Verdict::Unfinished(Unfinished::Fuel { limit: fuel });
            if within != measured.verdict && (!ran_out || fuel >= measured.fuel) {
                return Err(format!("within {fuel}: {within:?}: {schema} with {value}").into());
            }
        }
        let unfinished = matches!(measured.verdict, Verdict::Unfinished(_));
        if unfinished || measured.verdict.is_valid() != theirs.is_valid(value) {
            let verdict = measured.verdict;
            return Err(format!("differ: {schema} with {value}: ours {verdict:?}").into());
        }
    }
    Ok(true)
}

/// An error where an [`Instance`] of `value` is judged otherwise than `value`, or at another price.
pub(crate) fn accepts(schema: &Schema, value: &Value) -> Result<(), Failed> {
    let measured = schema.measure(value);
    let text = value.to_string();
    let instance = Instance::parse(&text).map_err(|error| format!("{text}: {error}"))?;
    let found = schema.accepts(&instance, u64::MAX);
    let expected = measured.verdict.is_valid().then_some(measured.fuel);
    // Deciding is at least as cheap as all of it.
    let short = measured.fuel.checked_sub(1).and_then(|fuel| schema.accepts(&instance, fuel));
    if found != expected || (expected.is_some() && short.is_some()) {
        return Err(
            format!("an instance of {value}: {found:?}, {short:?}, not {expected:?}").into()
        );
    }
    Ok(())
}

/// What the plain crate has no rule about.
fn is_ours_to_refuse(kind: &SchemaErrorKind) -> bool {
    !matches!(
        kind,
        SchemaErrorKind::NotASchema { .. }
            | SchemaErrorKind::Metaschema { .. }
            | SchemaErrorKind::DanglingReference { .. }
            | SchemaErrorKind::Pattern { .. }
    )
}
