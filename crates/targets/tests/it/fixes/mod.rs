//! Fixes: what a schema accepts stays the same, and a second time changes nothing.

mod corpus;
mod equal;
mod random;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_harness::trials::{check_all, file};
use toolbond_targets::{LintOptions, default_targets, fix_tools};

use crate::checks::read;

pub(crate) fn trials() -> Vec<Trial> {
    let cases = Trial::test("fixes/cases", || {
        let documents = read().into_iter().filter_map(|case| {
            Some((format!("{}/{}", case.rule(), case.name()), case.document()?))
        });
        check_all(documents, fixes_once)
    });
    let documents =
        file("fixes/documents", include_str!("../../cases/fixes.json"), fixes_as_expected);
    [vec![cases, documents], corpus::trials(), random::trials()].into_iter().flatten().collect()
}

/// A case of `tests/cases/fixes.json`: a document, what its fixes make of it, and how many there are.
fn fixes_as_expected(case: &Value) -> Result<(), Failed> {
    let mut document = case["tool"].clone();
    let count = fix_tools(&mut document, &LintOptions::default());
    if document != case["fixed"] || case["count"] != count {
        return Err(format!("{count} fixes: {document}").into());
    }
    fixes_once(&case["tool"])
}

/// Fixes `document`: the same values are valid before and after, and fixing again does nothing.
fn fixes_once(document: &Value) -> Result<(), Failed> {
    let options = LintOptions::default().targets(default_targets().iter().copied());
    let mut fixed = document.clone();
    fix_tools(&mut fixed, &options);
    equal::compare(document, &fixed)?;
    let mut again = fixed.clone();
    match fix_tools(&mut again, &options) {
        0 if again == fixed => Ok(()),
        count => Err(format!("{count} fixes again: {fixed}").into()),
    }
}
