//! The hostile corpus: every case ends as it says, on a small stack, and within its memory.

use std::{fs, thread};

use libtest_mimic::{Failed, Trial};
use toolbond_harness::hostile::{self, Case};

/// The stack of a thread in a server.
const STACK: usize = 2 << 20;

/// What a case may take beyond its schema and its instance.
const MEMORY: u64 = 64 << 10;

pub(crate) fn trials() -> Vec<Trial> {
    hostile::cases()
        .into_iter()
        .map(|case| Trial::test(format!("hostile/{}", case.name), move || ends_as_it_says(&case)))
        .collect()
}

fn ends_as_it_says(case: &Case) -> Result<(), Failed> {
    let case = case.clone();
    let worker = thread::Builder::new().stack_size(STACK);
    let outcome = worker.spawn(move || check(&case))?.join();
    outcome.map_err(|_| Failed::from("panicked"))?
}

fn check(case: &Case) -> Result<(), Failed> {
    let (schema, instance) = (case.schema(), case.instance());
    reset_peak();
    let before = kibibytes("VmRSS:");
    let outcome = case.run(&schema, &instance);
    let taken = kibibytes("VmHWM:").saturating_sub(before);
    if outcome.end() != case.ends {
        return Err(format!("ended {:?}, not {:?}: {outcome:?}", outcome.end(), case.ends).into());
    }
    if outcome.by() != case.by.as_deref() {
        return Err(format!("ended by {:?}, not {:?}", outcome.by(), case.by).into());
    }
    // Other cases in the same process would count too; nextest gives each a process of its own.
    if std::env::var_os("NEXTEST").is_some() && taken > MEMORY {
        return Err(format!("took {taken} KiB, more than {MEMORY}").into());
    }
    let again = case.run(&schema, &instance);
    if format!("{again:?}") != format!("{outcome:?}") {
        return Err(format!("ended {outcome:?}, then {again:?}").into());
    }
    Ok(())
}

fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// A figure that the system gives of this process; 0 where it gives none.
fn kibibytes(field: &str) -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with(field))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or_default()
}
