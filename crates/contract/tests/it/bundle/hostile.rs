//! Hostile documents: each limit, and what is just within.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::bundle::{BundleErrorKind, Document, bundle, missing};
use toolbond_harness::trials::check_all;
use toolbond_schema::Schema;

use crate::deep;

type Case = (&'static str, fn() -> Outcome);
type Outcome = (Value, Vec<Document>, Expected);

enum Expected {
    /// Bundled with so many documents.
    Documents(usize),
    /// Refused for a reason that contains this.
    Refused(&'static str),
}

pub(crate) fn trials() -> Vec<Trial> {
    let cases: [Case; 16] = [
        ("many_references_to_one_document", many_references),
        ("a_long_chain", || chain(1000)),
        ("a_chain_past_the_limit", || chain(1001)),
        ("bytes_past_the_limit", || {
            let text = "x".repeat(1 << 23);
            let (schema, documents) = star(2, |_| json!({ "title": text }));
            (schema, documents, Expected::Refused("exceed the limit of 16777216"))
        }),
        ("depth", || nested(117, Expected::Documents(1))),
        ("depth_past_the_limit", || nested(118, Expected::Refused("more than 120 nested levels"))),
        ("depth_far_past_the_limit", || {
            nested(3000, Expected::Refused("more than 120 nested levels"))
        }),
        ("depth_of_the_schema_past_the_limit", || {
            let schema = deep(300, json!({ "$ref": uri(0) }));
            (schema, Vec::new(), Expected::Refused("more than 256 nested levels"))
        }),
        ("long_keys", || {
            let long =
                |_| json!({ "properties": { "x".repeat(1 << 20): { "enum": vec![0; 30] } } });
            let (schema, documents) = star(3, long);
            (schema, documents, Expected::Refused("bytes of pointers to its places"))
        }),
        ("long_bases", || {
            let document =
                json!({ "$id": uri(0) + &"x".repeat(1 << 14), "items": many("y", 3000) });
            (json!({ "$ref": uri(0) }), vec![Document::new(uri(0), document)], URIS)
        }),
        ("long_ids_in_the_place_of_short_references", || {
            let document = json!({ "$id": uri(0) + &"x".repeat(1 << 14) });
            (many(&uri(0), 3000), vec![Document::new(uri(0), document)], URIS)
        }),
        ("long_pointers_to_resources", || {
            let long = "x".repeat(1 << 20);
            let inner = json!({ "$id": "https://b.example/", "a": {} });
            let document =
                json!({ "$defs": { long: inner }, "items": many("https://b.example/#/a", 3000) });
            let refused = Expected::Refused("bytes of pointers to its places");
            (json!({ "$ref": uri(0) }), vec![Document::new(uri(0), document)], refused)
        }),
        ("cycles", || {
            let (schema, documents) = star(100, |at| many(&uri((at * 7 + 3) % 100), 5));
            (schema, documents, Expected::Documents(100))
        }),
        ("every_document_refers_to_all", || {
            let all: Value = (0..100).map(|at| json!({ "$ref": uri(at) })).collect();
            let (schema, documents) = star(100, |_| json!({ "items": { "anyOf": all } }));
            (schema, documents, Expected::Documents(100))
        }),
        ("many_copies_of_one_resource", || {
            let (schema, documents) = star(
                500,
                |at| json!({ "title": at, "$defs": { "c": { "$id": "c", "enum": vec![0; 100] } } }),
            );
            (schema, documents, Expected::Documents(500))
        }),
        ("names_in_each_others_way", || {
            let names = (0..500).flat_map(|at| [format!("a-{at}"), format!("{at}/a")]);
            let uris: Vec<_> = names.map(|name| format!("https://a.example/{name}")).collect();
            let schema = uris.iter().map(|uri| json!({ "$ref": uri })).collect::<Value>();
            let documents = uris.into_iter().map(|uri| Document::new(uri, json!({})));
            (json!({ "allOf": schema }), documents.collect(), Expected::Documents(1000))
        }),
    ];
    vec![
        Trial::test("bundle/hostile/limits", move || {
            let cases = cases.into_iter().map(|(name, case)| (name.to_owned(), case));
            check_all(cases, |case| check(case()))
        }),
        Trial::test("bundle/hostile/a_long_chain_is_admitted", is_admitted),
    ]
}

fn is_admitted() -> Result<(), Failed> {
    let (schema, documents, _) = chain(500);
    let bundled = bundle(&schema, None, &documents)?;
    Schema::compile(&bundled)?;
    Ok(())
}

const URIS: Expected = Expected::Refused("exceed the limit of 16777216");

fn check((schema, documents, expected): Outcome) -> Result<(), Failed> {
    let bundled = bundle(&schema, None, &documents);
    match (bundled, expected) {
        (Ok(bundled), Expected::Documents(count)) => {
            assert_eq!(bundled["$defs"].as_object().map_or(0, Map::len), count);
            assert!(matches!(bundle(&bundled, None, &[])?, Cow::Borrowed(_)), "twice changes more");
            Ok(())
        }
        (Err(error), Expected::Refused(reason)) => {
            assert!(error.to_string().contains(reason), "{error}");
            assert!(!matches!(error.kind, BundleErrorKind::LostReference { .. }), "late: {error}");
            // What is missing is found within the same limits.
            assert_eq!(missing(&schema, None, &documents).err(), Some(error));
            Ok(())
        }
        (Ok(_), Expected::Refused(_)) => Err("bundled".into()),
        (Err(error), Expected::Documents(_)) => Err(error.to_string().into()),
    }
}

fn uri(at: usize) -> String {
    format!("https://a.example/{at}")
}

/// A schema that refers to `count` documents.
fn star(count: usize, document: impl Fn(usize) -> Value) -> (Value, Vec<Document>) {
    let references: Value = (0..count).map(|at| json!({ "$ref": uri(at) })).collect();
    let documents = (0..count).map(|at| Document::new(uri(at), document(at)));
    (json!({ "anyOf": references }), documents.collect())
}

/// A schema with `count` references to `uri`.
fn many(uri: &str, count: usize) -> Value {
    let properties: Map<_, _> =
        (0..count).map(|at| (at.to_string(), json!({ "$ref": uri }))).collect();
    json!({ "properties": properties })
}

fn many_references() -> Outcome {
    let document = Document::new(uri(0), json!({ "$id": "other", "type": "integer" }));
    let schema = many(&uri(0), 9990);
    let bundled = bundle(&schema, None, std::slice::from_ref(&document));
    let compiled = bundled.ok().and_then(|bundled| Schema::compile(&bundled).ok());
    let is_right = compiled.is_some_and(|schema| {
        schema.is_valid(&json!({ "7": 1 })) && !schema.is_valid(&json!({ "7": "x" }))
    });
    (schema, vec![document], Expected::Documents(usize::from(is_right)))
}

/// Documents that each refer to the next one.
fn chain(count: usize) -> Outcome {
    let documents = (0..count).map(|at| {
        let next = (at + 1 < count).then(|| json!({ "$ref": uri(at + 1) }));
        Document::new(uri(at), json!({ "items": next.unwrap_or_else(|| json!({})) }))
    });
    let expected = if count > 1000 {
        Expected::Refused("more than 1000 documents")
    } else {
        Expected::Documents(count)
    };
    (json!({ "$ref": uri(0) }), documents.collect(), expected)
}

fn nested(levels: usize, expected: Expected) -> Outcome {
    let document = deep(levels, json!({}));
    (json!({ "$ref": uri(0) }), vec![Document::new(uri(0), document)], expected)
}
