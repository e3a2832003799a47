//! The verdict is that of the plain `jsonschema` crate, whatever a case is about.

use libtest_mimic::{Failed, Trial};
use toolbond_harness::plain;
use toolbond_harness::suite::{self, File, Kind};
use toolbond_schema::Verdict;

pub(crate) fn trials() -> Vec<Trial> {
    suite::files()
        .into_iter()
        .map(|file| Trial::test(format!("equivalence/{}", file.name), move || agrees(&file)))
        .collect()
}

fn agrees(file: &File) -> Result<(), Failed> {
    let documents = suite::documents(file.dialect);
    let options = file.options(&documents);
    let mut differences = Vec::new();
    for group in file.groups() {
        let ours = options.compile(&group.schema);
        let formats = file.kind == Kind::Format;
        let theirs = plain::compile(file.dialect, formats, &documents, &group.schema);
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
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n").into()) }
}
