//! The groups of the official suite that refer to other documents, bundled: the verdicts that the suite expects.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::ProjectErrorKind;
use toolbond_contract::bundle::{BundleErrorKind, Document, bundle, flatten, missing};
use toolbond_harness::suite::{self, File, Kind};
use toolbond_schema::Options;

use crate::project::official::{self, Example};

pub(crate) fn trials() -> Vec<Trial> {
    let files = files().into_iter();
    files
        .map(|file| Trial::test(format!("bundle/suite/{}", file.name), move || is_kept(&file)))
        .collect()
}

/// The files of the suite, those about formats aside.
pub(crate) fn files() -> Vec<File> {
    suite::files().into_iter().filter(|file| file.kind != Kind::Format).collect()
}

/// The remotes of the suite; metaschemas are always at hand.
pub(crate) fn remotes(file: &File) -> Vec<Document> {
    let documents = suite::documents(file.dialect).into_iter();
    let remotes = documents.filter(|(uri, _)| uri.starts_with("http://localhost:1234/"));
    remotes.map(|(uri, value)| Document::new(uri, value)).collect()
}

fn is_kept(file: &File) -> Result<(), Failed> {
    let documents = remotes(file);
    let mut faults = Vec::new();
    let (mut bundled, mut flat) = (0, 0);
    let examples = official::examples(file);
    for example in &examples {
        match check(example, &documents) {
            Ok(None) => {}
            Ok(Some(is_flat)) => (bundled, flat) = (bundled + 1, flat + usize::from(is_flat)),
            Err(fault) => {
                faults.push(format!("{}: {}", example.name, fault.message().unwrap_or_default()));
            }
        }
    }
    eprintln!("{}: {bundled} bundles, {flat} of them flat", file.name);
    if file.name.ends_with("/refRemote.json") && bundled < examples.len() {
        faults.push(format!("{bundled} of {} groups are bundled", examples.len()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// Whether the bundle of `example` has a flat form; `None` if nothing is bundled.
fn check(example: &Example, documents: &[Document]) -> Result<Option<bool>, Failed> {
    let schema = &example.tool["outputSchema"];
    let bundled = match bundle(schema, None, documents) {
        Ok(bundled) => bundled,
        // A metaschema of the suite's own is not a dialect that is known.
        Err(error) if matches!(error.kind, BundleErrorKind::UnsupportedDialect { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string().into()),
    };
    if !missing(schema, None, documents)?.is_empty() {
        return Err("a document is missing".into());
    }
    let flat = match flatten(&bundled) {
        Ok(flat) => Some(flat),
        Err(error) if matches!(error.kind, ProjectErrorKind::DynamicReference { .. }) => None,
        // Nothing is bundled, and a reference that leads nowhere stays.
        Err(_) if *bundled == *schema => None,
        Err(error) => return Err(format!("{error}: {bundled}").into()),
    };
    if let Some(Cow::Owned(flat)) = &flat {
        expect_verdicts(flat, example)?;
    }
    if *bundled == *schema {
        return Ok(None);
    }
    expect_verdicts(&bundled, example)?;
    Ok(Some(flat.is_some()))
}

fn expect_verdicts(schema: &Value, example: &Example) -> Result<(), Failed> {
    let compiled = Options::default().compile(schema);
    let compiled = compiled.map_err(|error| format!("{error} in {schema}"))?;
    for (description, value, valid) in &example.values {
        if compiled.is_valid(value) != *valid {
            return Err(format!("{description}: {value} should be {valid} under {schema}").into());
        }
    }
    Ok(())
}
