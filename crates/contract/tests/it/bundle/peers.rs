//! The bundles of the official suite and their flat forms, read by Ajv and by Python's `jsonschema`: the verdicts that the suite expects.

use std::process::Command;

use libtest_mimic::{Failed, Trial};
use toolbond_contract::bundle::{bundle, flatten};
use toolbond_harness::{peers, suite as harness};
use toolbond_schema::Dialect;

use super::suite;
use crate::project::official;
use crate::project::reader::{Question, agrees, known};

const KNOWN: &str = include_str!("../../cases/bundle/peers.json");

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("bundle/peers/ajv", || ask("ajv", peers::command("readers/ajv_bundles.mjs"))),
        Trial::test("bundle/peers/jsonschema", || {
            ask("jsonschema", peers::command("readers/jsonschema_bundles.py"))
        }),
    ]
}

/// Every group that is bundled with documents, exceptions aside.
fn ask(name: &str, peer: Command) -> Result<(), Failed> {
    let mut questions = Vec::new();
    for dialect in Dialect::ALL {
        let (before, remote) =
            (questions.len(), format!("{}/refRemote.json", harness::folder_of(dialect)));
        add_questions(dialect, &mut questions);
        if !questions[before..].iter().any(|question| question.name.starts_with(&remote)) {
            return Err(format!("{remote} should be among them").into());
        }
    }
    agrees(peer, &questions, known(KNOWN, |entry| entry["peer"] == name))
}

fn add_questions(dialect: Dialect, questions: &mut Vec<Question>) {
    let documents = suite::remotes(&harness::documents(dialect));
    let files = harness::files_of(dialect).into_iter().filter(suite::is_meant);
    for example in files.flat_map(|file| official::examples(&file)) {
        let schema = &example.tool["outputSchema"];
        let Ok(bundled) = bundle(schema, None, &documents) else { continue };
        if *bundled == *schema {
            continue;
        }
        let values: Vec<_> =
            example.values.into_iter().map(|(_, value, valid)| (value, valid)).collect();
        if let Ok(flat) = flatten(&bundled) {
            let (name, schema) = (format!("{} (flat)", example.name), flat.into_owned());
            questions.push(Question { name, schema, values: values.clone() });
        }
        let schema = bundled.into_owned();
        questions.push(Question { name: example.name, schema, values });
    }
}
