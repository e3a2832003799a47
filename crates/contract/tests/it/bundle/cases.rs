//! Named cases: what is missing, what the bundle is, and what is refused.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::bundle::{Document, bundle, missing};
use toolbond_harness::trials::file;
use toolbond_schema::Schema;

use crate::{assert_same, assert_verdicts};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        file("bundle/bundles", include_str!("../../cases/bundle/bundles.json"), check),
        file("bundle/missing", include_str!("../../cases/bundle/missing.json"), check),
        file("bundle/refused", include_str!("../../cases/bundle/refused.json"), check),
    ]
}

fn check(case: &Value) -> Result<(), Failed> {
    let (schema, base, documents) = (&case["schema"], case["base"].as_str(), documents(case));
    if let Some(expected) = case.get("missing") {
        let found = missing(schema, base, &documents)?;
        let found: Value = found
            .iter()
            .map(|missing| {
                let from = missing.from.as_deref().unwrap_or_default();
                json!([missing.uri, missing.reference, format!("{from}{}", missing.pointer)])
            })
            .collect();
        assert_same(&found, expected, "missing");
        if found != json!([]) {
            return Ok(());
        }
    }
    if let Some(reason) = case["refused"].as_str() {
        let found = bundle(schema, base, &documents).map_err(|error| error.to_string());
        assert_eq!(found.err().as_deref(), Some(reason));
        return Ok(());
    }
    let bundled = bundle(schema, base, &documents)?;
    assert_same(&bundled, &case["bundle"], "bundle");
    if let Some(same) = case["borrowed"].as_bool() {
        assert_eq!(same, matches!(bundled, Cow::Borrowed(_)), "borrowed");
    }
    for (base, documents) in [(base, &documents[..]), (None, &[])] {
        let again = bundle(&bundled, base, documents)?;
        assert!(matches!(again, Cow::Borrowed(same) if *same == *bundled), "twice: {again}");
    }
    assert_verdicts(&Schema::compile(&bundled)?, case);
    Ok(())
}

/// The documents of a case: a list of a URI, the URI it was found at if that is another one, and the document.
fn documents(case: &Value) -> Vec<Document> {
    let list = case["documents"].as_array().into_iter().flatten();
    list.map(|document| {
        let list = document.as_array().expect("a document is a list");
        let uri = |at: usize| list[at].as_str().expect("a URI").to_owned();
        Document {
            uri: uri(0),
            base: uri(list.len() - 2),
            value: list[list.len() - 1].clone().into(),
        }
    })
    .collect()
}
