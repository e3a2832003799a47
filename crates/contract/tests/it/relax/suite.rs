//! Over the official suite: each schema, broken by each of its invalid values.

use libtest_mimic::{Failed, Trial};
use toolbond_harness::suite::{Documents, File};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Options};

use super::relaxed;
use crate::project::official::{self, Example};

pub(crate) fn trials() -> Vec<Trial> {
    trials::suite("relax/suite", Dialect::ALL, official::is_meant, accepts_more)
}

fn accepts_more(file: &File, documents: &Documents) -> Result<(), Failed> {
    let options = file.options(documents);
    official::check_each(file, |example| check(example, &options))
}

fn check(example: &Example, options: &Options) -> Result<(), Failed> {
    let author = options.compile(&example.tool["outputSchema"])?;
    let source = author.source();
    for (_, invalid, _) in example.values.iter().filter(|(_, _, valid)| !valid) {
        let Some(schema) = relaxed(&author, invalid)? else { continue };
        for (_, valid, _) in example.values.iter().filter(|(_, _, valid)| *valid) {
            let after = schema.source();
            assert!(schema.is_valid(valid), "{valid} under {after}, for {invalid} under {source}");
        }
    }
    Ok(())
}
