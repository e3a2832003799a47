//! The groups of the official suite that refer to other documents, bundled: the verdicts that the suite expects.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use toolbond_contract::bundle::{BundleErrorKind, Document, bundle, flatten, missing};
use toolbond_contract::project::ProjectErrorKind;
use toolbond_harness::suite::{Documents, File, Kind};
use toolbond_harness::trials;
use toolbond_schema::{Dialect, Schema};

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
    let is_remote = file.name.ends_with("/refRemote.json");
    official::check_each(file, |example| {
        let is_bundled = check(example, &documents)?;
        assert!(is_bundled || !is_remote, "not bundled");
        Ok(())
    })
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
    assert!(missing(schema, None, documents)?.is_empty(), "a document is missing");
    let flat = match flatten(&bundled) {
        Ok(flat) => Some(flat),
        Err(error) if matches!(error.kind, ProjectErrorKind::DynamicReference { .. }) => None,
        // Nothing is bundled, and a reference that leads nowhere stays.
        Err(_) if *bundled == *schema => None,
        Err(error) => return Err(format!("{error}: {bundled}").into()),
    };
    let is_bundled = *bundled != *schema;
    let flat = flat.filter(|flat| matches!(flat, Cow::Owned(_)));
    for schema in flat.iter().chain(is_bundled.then_some(&bundled)) {
        let compiled = Schema::compile(schema).map_err(|error| format!("{error} in {schema}"))?;
        example.assert_verdicts(&compiled);
    }
    Ok(is_bundled)
}
