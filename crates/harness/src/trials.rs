//! Trials of many cases each.
//!
//! Under `cargo nextest` a trial is a process of its own, so a file of cases, a dialect of the suite or the corpus is
//! one trial. It reads its cases when it runs, checks all of them, and names every one that fails.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use toolbond_schema::Dialect;

use crate::corpus::{self, Server};
use crate::skip::skip;
use crate::suite::{self, Documents, File};

/// A trial of the cases in a JSON array, each with a `name`.
pub fn file(
    name: impl Into<String>,
    text: &'static str,
    check: impl Fn(&Value) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::test(name, move || check_all(named(text), check))
}

/// The cases of a JSON array by their names.
pub fn named(text: &str) -> Vec<(String, Value)> {
    let cases: Vec<Value> = serde_json::from_str(text).expect("cases are a JSON array");
    let name = |case: &Value| case["name"].as_str().expect("a case has a name").to_owned();
    cases.into_iter().map(|case| (name(&case), case)).collect()
}

/// A trial for each of `dialects`, of the files of the official suite that `is_meant`.
pub fn suite(
    name: &str,
    dialects: impl IntoIterator<Item = Dialect>,
    is_meant: fn(&File) -> bool,
    check: fn(&File, &Documents) -> Result<(), Failed>,
) -> Vec<Trial> {
    let trial = |dialect| {
        Trial::test(format!("{name}/{}", suite::folder_of(dialect)), move || {
            let documents = suite::documents(dialect);
            let files = suite::files_of(dialect).into_iter().filter(is_meant);
            check_all(files.map(|file| (file.name.clone(), file)), |file| check(file, &documents))
        })
    };
    dialects.into_iter().map(trial).collect()
}

/// A trial of all servers of the corpus, skipped where there is no corpus.
pub fn corpus(name: &str, check: fn(&Server) -> Result<(), Failed>) -> Trial {
    Trial::ignorable_test(name, move || match corpus::files() {
        Ok(files) => {
            let files = files.into_iter().map(|file| (file.name.clone(), file));
            check_all(files, |file| check(&file.read())).map(|()| Completion::Completed)
        }
        Err(reason) => skipped(&reason),
    })
}

/// What a trial returns that cannot run.
pub fn skipped(reason: &str) -> Result<Completion, Failed> {
    skip(reason);
    Ok(Completion::ignored_with(reason))
}

/// Checks every case, and fails with the names and faults of those that fail, or if there are none.
pub fn check_all<C>(
    cases: impl IntoIterator<Item = (String, C)>,
    check: impl Fn(&C) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (mut count, mut faults) = (0, Vec::new());
    for (name, case) in cases {
        count += 1;
        match catch_unwind(AssertUnwindSafe(|| check(&case))) {
            Ok(Ok(())) => {}
            Ok(Err(failed)) => {
                faults.push(format!("{name}: {}", failed.message().unwrap_or_default()));
            }
            Err(panic) => faults.push(format!("{name}: panicked: {}", text_of(&*panic))),
        }
    }
    if count == 0 {
        return Err("no cases".into());
    }
    none_of(faults)
}

/// Fails with `faults`, a line each, if there are any.
pub fn none_of(faults: impl IntoIterator<Item = String>) -> Result<(), Failed> {
    let faults: Vec<String> = faults.into_iter().collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}
