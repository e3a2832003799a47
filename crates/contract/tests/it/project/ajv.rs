//! The projected schemas and values of the official suite, read by Ajv as the TypeScript SDK v1 does.

use std::borrow::Cow;

use libtest_mimic::Trial;
use toolbond_contract::{Projection, Revision, project::Formats, project_result};

use super::official;
use super::reader::{Question, agrees, ajv_as, known};

const LEGACY: Revision = Revision::V2025_11_25;
const KNOWN: &str = include_str!("../../cases/project/draft07-readers.json");

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, formats| {
        Trial::test(format!("project/ajv/{name}"), move || {
            let known = known(KNOWN, |entry| {
                entry["onlyWithFormatsKept"] != true || formats == Formats::Kept
            });
            agrees(ajv_as("draft-07"), &questions(formats), known)
        })
    };
    vec![trial("formats_dropped", Formats::Dropped), trial("formats_kept", Formats::Kept)]
}

fn questions(formats: Formats) -> Vec<Question> {
    let projection = Projection::default().formats(formats);
    let mut questions = Vec::new();
    for example in official::files().iter().flat_map(official::examples) {
        let Ok(projected) = projection.project_tool(&example.tool, &LEGACY) else { continue };
        let valid = example.values.iter().filter(|(_, _, valid)| *valid);
        let values = valid.filter_map(|(_, value, _)| {
            let result = official::result(value);
            let sent = project_result(Cow::Borrowed(&result), projected.form, &LEGACY).ok()?;
            Some((sent["structuredContent"].clone(), true))
        });
        questions.push(Question {
            values: values.collect(),
            schema: projected.tool["outputSchema"].clone(),
            name: example.name,
        });
    }
    questions
}
