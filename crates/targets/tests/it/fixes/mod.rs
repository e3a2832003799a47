//! Fixes: what a schema accepts stays the same, and a second time changes nothing.

mod corpus;
mod equal;
mod random;

use libtest_mimic::{Failed, Trial};
use toolpact_targets::{LintOptions, fix_tools};

use crate::checks::read;

pub(crate) fn trials() -> Vec<Trial> {
    let cases = read().into_iter().enumerate().filter_map(|(number, case)| {
        let document = case.document()?;
        let name = format!("fixes/{}/{number}", case.rule());
        Some(Trial::test(name, move || fixes_once(&document)))
    });
    cases.chain(corpus::trials()).chain(random::trials()).collect()
}

/// Fixes `document`: the same values are valid before and after, and fixing again does nothing.
fn fixes_once(document: &serde_json::Value) -> Result<(), Failed> {
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
