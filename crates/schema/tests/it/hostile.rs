//! The hostile corpus: every case ends as it says, on a small stack, and within its memory.

use std::collections::BTreeMap;
use std::thread;

use libtest_mimic::{Failed, Trial};
use toolbond_harness::hostile::{self, Case};
use toolbond_harness::trials;

use crate::memory;

/// The stack of a thread in a server.
const STACK: usize = 2 << 20;

/// What a case may take beyond its schema and its instance.
const MEMORY: u64 = 64 << 20;

/// A trial for each kind of case.
pub(crate) fn trials() -> Vec<Trial> {
    let mut kinds: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in hostile::cases() {
        let kind = case.name.split('/').next().unwrap_or_default().to_owned();
        kinds.entry(kind).or_default().push(case);
    }
    let trial = |(kind, cases): (String, Vec<Case>)| {
        Trial::test(format!("hostile/{kind}"), move || {
            let cases = cases.into_iter().map(|case| (case.name.clone(), case));
            trials::check_all(cases, ends_as_it_says)
        })
    };
    kinds.into_iter().map(trial).collect()
}

fn ends_as_it_says(case: &Case) -> Result<(), Failed> {
    let case = case.clone();
    let worker = thread::Builder::new().stack_size(STACK);
    let outcome = worker.spawn(move || check(&case))?.join();
    outcome.map_err(|_| Failed::from("panicked"))?
}

fn check(case: &Case) -> Result<(), Failed> {
    let (schema, instance) = (case.schema(), case.instance());
    let (outcome, taken) = memory::taken_by(|| case.run(&schema, &instance));
    if outcome.end() != case.ends {
        return Err(format!("ended {:?}, not {:?}: {outcome:?}", outcome.end(), case.ends).into());
    }
    if outcome.by() != case.by.as_deref() {
        return Err(format!("ended by {:?}, not {:?}", outcome.by(), case.by).into());
    }
    if taken > MEMORY {
        return Err(format!("took {taken} bytes, more than {MEMORY}").into());
    }
    let again = case.run(&schema, &instance);
    if format!("{again:?}") != format!("{outcome:?}") {
        return Err(format!("ended {outcome:?}, then {again:?}").into());
    }
    Ok(())
}
