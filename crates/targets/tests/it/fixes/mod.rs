//! Fixes: what a schema accepts stays the same, and a second time changes nothing.

mod corpus;
mod equal;
mod random;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_targets::{LintOptions, fix_tools};

use crate::checks::read;

pub(crate) fn trials() -> Vec<Trial> {
    let cases = read().into_iter().enumerate().filter_map(|(number, case)| {
        let document = case.document()?;
        let name = format!("fixes/{}/{number}", case.rule());
        Some(Trial::test(name, move || fixes_once(&document)))
    });
    cases.chain(documents()).chain(corpus::trials()).chain(random::trials()).collect()
}

/// The cases of `tests/cases/fixes.json`: a document, what its fixes make of it, and how many there are.
fn documents() -> Vec<Trial> {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../cases/fixes.json")).expect("cases are JSON");
    let trial = |case: Value| {
        let name = case["name"].as_str().expect("a case has a name").to_owned();
        Trial::test(format!("fixes/documents/{name}"), move || {
            let mut document = case["tool"].clone();
            let count = fix_tools(&mut document, &LintOptions::default());
            if document != case["fixed"] || case["count"] != count {
                return Err(format!("{count} fixes: {document}").into());
            }
            fixes_once(&case["tool"])
        })
    };
    cases.into_iter().map(trial).collect()
}

/// Fixes `document`: the same values are valid before and after, and fixing again does nothing.
fn fixes_once(document: &Value) -> Result<(), Failed> {
    let options = LintOptions::default();
    let mut fixed = document.clone();
    fix_tools(&mut fixed, &options);
    equal::compare(document, &fixed)?;
    let mut again = fixed.clone();
    match fix_tools(&mut again, &options) {
        0 if again == fixed => Ok(()),
        count => Err(format!("{count} fixes again: {fixed}").into()),
    }
}
