//! The official JSON Schema Test Suite: required cases all pass; of the optional ones exactly those
//! listed in `optional-failures.json` do not.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_harness::suite::{self, Documents, File, Kind};
use toolbond_harness::{plain, trials};
use toolbond_schema::{Dialect, Verdict};

use crate::messages::is_at_its_keyword;
use crate::random::accepts;

const FAILURES: &str = include_str!("optional-failures.json");

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = trials::suite("suite", Dialect::ALL, |_| true, conforms);
    trials.extend([
        Trial::test("suite/lists_only_known_failures", lists_only_known_failures),
        Trial::test("suite/lists_no_more_than_plain_fails", lists_no_more_than_plain_fails),
    ]);
    trials
}

fn conforms(file: &File, documents: &Documents) -> Result<(), Failed> {
    let found: BTreeSet<String> = failures(file, documents).into_iter().collect();
    let listed = match file.kind {
        Kind::Required => BTreeSet::new(),
        Kind::Optional | Kind::Format => listed(&file.name),
    };
    let news = found.difference(&listed).map(|case| format!("fails: {case}"));
    let olds = listed.difference(&found).map(|case| format!("listed, but passes: {case}"));
    trials::none_of(news.chain(olds))
}

/// The cases of `file` that end otherwise than the suite says, as `group / case`.
fn failures(file: &File, documents: &Documents) -> Vec<String> {
    let options = file.options(documents);
    let mut failures = Vec::new();
    for group in file.groups() {
        let schema = options.compile(&group.schema);
        for case in &group.tests {
            let name = format!("{} / {}", group.description, case.description);
            let right = schema.as_ref().is_ok_and(|schema| match schema.validate(&case.data) {
                Verdict::Valid => case.valid,
                Verdict::Invalid(_) => !case.valid,
                Verdict::Unfinished(_) => false,
            });
            if let Ok(schema) = &schema
                && let Err(error) = accepts(schema, &case.data)
            {
                failures.push(format!("{name}: {error:?}"));
            }
            if let Ok(schema) = &schema
                && let Verdict::Invalid(violations) = schema.validate(&case.data)
                && let Some(error) =
                    violations.iter().find_map(|it| is_at_its_keyword(schema, it).err())
            {
                failures.push(format!("{name}: {error:?}"));
            }
            if schema.as_ref().is_ok_and(|schema| {
                schema.is_valid(&case.data) != schema.validate(&case.data).is_valid()
            }) {
                failures.push(format!("{name}: `is_valid` and `validate` disagree"));
            }
            if !right {
                failures.push(name);
            }
        }
    }
    failures
}

/// The listed failures of the file called `name`.
fn listed(name: &str) -> BTreeSet<String> {
    let list = list();
    let Some(reasons) = list.get(name).and_then(Value::as_object) else { return BTreeSet::new() };
    reasons
        .values()
        .flat_map(|cases| cases.as_array().into_iter().flatten())
        .filter_map(|case| case.as_str().map(str::to_owned))
        .collect()
}

/// File name, reason, cases.
fn list() -> Value {
    serde_json::from_str(FAILURES).unwrap_or_else(|error| panic!("optional-failures.json: {error}"))
}

fn lists_only_known_failures() -> Result<(), Failed> {
    let files = suite::files();
    for name in list().as_object().into_iter().flat_map(|list| list.keys()) {
        let known = files.iter().any(|file| file.name == *name && file.kind != Kind::Required);
        if !known {
            return Err(format!("{name} is not an optional file of the suite").into());
        }
    }
    Ok(())
}

/// With the same documents and options.
fn lists_no_more_than_plain_fails() -> Result<(), Failed> {
    let (mut ours, mut theirs) = (0, 0);
    for dialect in Dialect::ALL {
        let documents = suite::documents(dialect);
        let files = suite::files_of(dialect).into_iter();
        for file in files.filter(|file| file.kind != Kind::Required) {
            ours += listed(&file.name).len();
            for group in file.groups() {
                let formats = file.kind == Kind::Format;
                let plain = plain::compile(dialect, formats, &documents, &group.schema);
                let fails = |case: &&suite::Case| {
                    !plain.as_ref().is_ok_and(|plain| plain.is_valid(&case.data) == case.valid)
                };
                theirs += group.tests.iter().filter(fails).count();
            }
        }
    }
    if ours <= theirs {
        Ok(())
    } else {
        Err(format!("we list {ours}, plain fails {theirs}").into())
    }
}
