//! The groups of the official suite that refer to other documents, bundled: the verdicts that the suite expects.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::ProjectErrorKind;
use toolbond_contract::bundle::{BundleErrorKind, Document, bundle, flatten, missing};
use toolbond_harness::suite::{Documents, File, Kind};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Options};

use crate::project::official::{self, Example};

pub(crate) fn trials() -> Vec<Trial> {
    trials::suite("bundle/suite", Dialect::ALL, is_meant, is_kept)
}

/// Whether a file of the suite is not about formats.
pub(crate) fn is_meant(file: &File) -> bool {
    file.kind != Kind::Format
}

/// The remotes of the suite; metaschemas are always at hand.
pub(crate) fn remotes(documents: &Documents) -> Vec<Document> {
    let documents = documents.iter().cloned();
    let remotes = documents.filter(|(uri, _)| uri.starts_with("http://localhost:1234/"));
    remotes.map(|(uri, value)| Document::new(uri, value)).collect()
}

fn is_kept(file: &File, documents: &Documents) -> Result<(), Failed> {
    let documents = remotes(documents);
    let mut faults = Vec::new();
    let mut bundled = 0;
    let examples = official::examples(file);
    for example in &examples {
        match check(example, &documents) {
            Ok(is_bundled) => bundled += usize::from(is_bundled),
            Err(fault) => {
                faults.push(format!("{}: {}", example.name, fault.message().unwrap_or_default()));
            }
        }
    }
    if file.name.ends_with("/refRemote.json") && bundled < examples.len() {
        faults.push(format!("{bundled} of {} groups are bundled", examples.len()));
    }
    trials::none_of(faults)
}

/// Whether anything is bundled.
fn check(example: &Example, documents: &[Document]) -> Result<bool, Failed> {
    let schema = &example.tool["outputSchema"];
    let bundled = match bundle(schema, None, documents) {
        Ok(bundled) => bundled,
        // A metaschema of the suite's own is not a dialect that is known.
        Err(error) if matches!(error.kind, BundleErrorKind::UnsupportedDialect { .. }) => {
            return Ok(false);
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
        return Ok(false);
    }
    expect_verdicts(&bundled, example)?;
    Ok(true)
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
