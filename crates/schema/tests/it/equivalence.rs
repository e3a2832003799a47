//! The verdict is that of the plain `jsonschema` crate, whatever a case is about.

use libtest_mimic::{Failed, Trial};
use toolbond_harness::suite::{Documents, File, Kind};
use toolbond_harness::{plain, trials};
use toolbond_schema::{Dialect, Verdict};

pub(crate) fn trials() -> Vec<Trial> {
    trials::suite("equivalence", Dialect::ALL, |_| true, agrees)
}

fn agrees(file: &File, documents: &Documents) -> Result<(), Failed> {
    let options = file.options(documents);
    let mut differences = Vec::new();
    for group in file.groups() {
        let ours = options.compile(&group.schema);
        let formats = file.kind == Kind::Format;
        let theirs = plain::compile(file.dialect, formats, documents, &group.schema);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                for case in &group.tests {
                    let ours = ours.validate(&case.data);
                    let theirs = theirs.is_valid(&case.data);
                    if matches!(ours, Verdict::Unfinished(_)) || ours.is_valid() != theirs {
                        differences.push(format!(
                            "{} / {}: ours {ours:?}, plain {theirs}",
                            group.description, case.description
                        ));
                    }
                }
            }
            (Err(_), Err(_)) => {}
            (Err(error), Ok(_)) => {
                differences.push(format!("{}: only ours refuses: {error}", group.description));
            }
            (Ok(_), Err(error)) => {
                differences.push(format!("{}: only plain refuses: {error}", group.description));
            }
        }
    }
    trials::none_of(differences)
}
