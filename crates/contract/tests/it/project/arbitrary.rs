//! Arbitrary JSON as a tool or a result: no panic, nothing lost.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Map, Value, json};
use toolbond_contract::{
    Form, Revision, lift_result, lift_tool, project::MARKER, project_result, project_tool,
};
use toolbond_harness::generate::{Rng, of_words};
use toolbond_harness::trials::check_all;

use crate::assert_same;

const LEGACY: Revision = Revision::V2025_11_25;
const FORMS: [Form; 5] =
    [Form::Undeclared, Form::Natural, Form::Object, Form::NullableObject, Form::Envelope];

/// The words that matter, beside [`MARKER`] and an empty one.
const WORDS: &str = "$ref $id id $anchor $schema $defs properties result required type object array items prefixItems \
    enum const not oneOf _meta content structuredContent isError text form envelope error # #/properties/result \
    #/$defs/a a % ~";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        each("tools", tools_survive),
        each("results", results_survive),
        each("anything", anything_survives),
        Trial::test("project/arbitrary/deep_schemas_are_refused", deep_schemas),
        Trial::test("project/arbitrary/large_schemas_are_lifted", || check_all(large(), is_lifted)),
        Trial::test("project/arbitrary/long_texts_are_refused", || check_all(long(), is_refused)),
    ]
}

/// Checks a thousand values of each kind, the same in every run.
fn each(name: &str, check: fn(&mut dyn FnMut() -> Value, &mut Rng)) -> Trial {
    Trial::test(format!("project/arbitrary/{name}"), move || {
        let words: Vec<&str> = WORDS.split_whitespace().chain([MARKER, ""]).collect();
        for seed in 0..1000 {
            let mut values = Rng::new(!seed);
            check(&mut || of_words(&mut values, &words, 6), &mut Rng::new(seed));
        }
        Ok(())
    })
}

fn tools_survive(value: &mut dyn FnMut() -> Value, rng: &mut Rng) {
    let mut tool = json!({ "name": "t", "outputSchema": value(), "x-other": value() });
    if rng.one_in(2) {
        tool["_meta"] = value();
    }
    for revision in Revision::PUBLISHED {
        let Ok(projected) = project_tool(&tool, &revision) else { continue };
        // The marker is ours: a tool that comes with a fitting one counts as projected.
        if *projected.tool == tool {
            continue;
        }
        let again = project_tool(&projected.tool, &revision).map(|again| again.tool.to_string());
        assert_eq!(again, Ok(projected.tool.to_string()));
        let lifted = lift_tool(&projected.tool, &revision).map(|lifted| lifted.tool.to_string());
        assert_eq!(lifted, Ok(tool.to_string()));
    }
    _ = lift_tool(&tool, &LEGACY);
}

fn results_survive(value: &mut dyn FnMut() -> Value, rng: &mut Rng) {
    let mut result = json!({ "isError": rng.one_in(2) });
    for member in ["structuredContent", "_meta", "content"] {
        if rng.one_in(2) {
            result[member] = value();
        }
    }
    for form in FORMS {
        let project = |result, to| project_result(Cow::Borrowed(result), form, to);
        let Ok(natural) = project(&result, &Revision::V2026_07_28) else { continue };
        let members = result.as_object().into_iter().flatten();
        for (key, value) in members.filter(|(key, _)| *key != "content") {
            assert_eq!(&natural[key], value);
        }
        let Ok(sent) = project(&result, &LEGACY) else { continue };
        if sent != natural {
            let again = project(&sent, &LEGACY).map(|again| again.to_string());
            assert_eq!(again, Ok(sent.to_string()));
            let lifted = lift_result(&sent, form).map(|lifted| lifted.to_string());
            assert_eq!(lifted, Ok(natural.to_string()));
        }
        _ = lift_result(&result, form);
    }
}

/// What is checked is that it comes back.
fn anything_survives(value: &mut dyn FnMut() -> Value, _: &mut Rng) {
    let value = value();
    for revision in [LEGACY, Revision::V2026_07_28, Revision::ABSENT] {
        _ = project_tool(&value, &revision);
        _ = lift_tool(&value, &revision);
        for form in FORMS {
            _ = project_result(Cow::Borrowed(&value), form, &revision);
            _ = lift_result(&value, form);
        }
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
}

fn tool(schema: &Value) -> Value {
    json!({ "name": "t", "outputSchema": schema })
}

fn is_lifted(schema: &Value) -> Result<(), Failed> {
    let tool = tool(schema);
    let projected = project_tool(&tool, &LEGACY)?;
    assert_eq!(projected.form, Form::Envelope);
    assert_same(&lift_tool(&projected.tool, &LEGACY)?.tool, &tool, "lifted");
    let listed = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [projected.tool] } });
    let _: Value = serde_json::from_str(&listed.to_string())?;
    Ok(())
}

/// The depth to which a schema or structured content is followed.
const MAX_DEPTH: usize = 256;
/// The depth of a projected tool or result.
const MAX_PROJECTED_DEPTH: usize = 120;

fn deep_schemas() -> Result<(), Failed> {
    // Around the schema are the tool, the envelope and its properties; it has one level more than asked.
    let deepest = MAX_PROJECTED_DEPTH - 4;
    is_lifted(&nested(deepest))?;
    let veiled = (0..MAX_PROJECTED_DEPTH / 6).fold(
        json!({ "prefixItems": [{}] }),
        |inner, _| json!({ "properties": { "a": { "not": inner } } }),
    );
    is_lifted(&veiled)?;
    for levels in [deepest + 1, MAX_DEPTH - 1, MAX_DEPTH, 4 * MAX_DEPTH] {
        is_refused(&(nested(levels), "nested levels"))?;
    }
    let project = |result, form, to| match project_result(Cow::Owned(result), form, to) {
        Ok(sent) => Ok(sent.into_owned()),
        Err(error) => Err(error.to_string()),
    };
    let is_too_deep = |sent: Result<_, String>| sent.is_err_and(|it| it.contains("nested levels"));
    for (is_error, last) in [(false, 117), (true, 119)] {
        let result = |levels| json!({ "isError": is_error, "structuredContent": nested(levels) });
        let sent = project(result(last), Form::Envelope, &LEGACY)?;
        let lifted = lift_result(&sent, Form::Envelope)?;
        assert_eq!(lifted["structuredContent"], nested(last));
        assert!(is_too_deep(project(result(last + 1), Form::Envelope, &LEGACY)), "{is_error}");
    }
    let result = json!({ "structuredContent": [nested(4 * MAX_DEPTH)] });
    assert!(is_too_deep(project(result, Form::Natural, &Revision::V2026_07_28)), "a text block");
    Ok(())
}

fn long_id() -> String {
    format!("http://x/{}/", "a".repeat(200_000))
}

/// Schemas whose work must not grow faster than they do; `cargo xtask bench contract` tells how the time grows.
fn large() -> [(String, Value); 4] {
    let chain: Map<_, _> = (0..50_000)
        .map(|at| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) })))
        .collect();
    let inherited = (0..27).fold(
        json!({ "type": "integer" }),
        |inner, _| json!({ "properties": { "constructor": inner } }),
    );
    let branches: Vec<_> = (0..4_000)
        .map(|at| json!({ "not": { "prefixItems": [{ "$ref": format!("#/anyOf/{at}") }] } }))
        .collect();
    let inside = vec![json!({ "items": { "$ref": "#" } }); 4_000];
    [
        // As long as the document, and not to be followed by recursion.
        ("a chain of references", json!({ "$ref": "#/$defs/d0", "$defs": chain })),
        // Each level is built once: twice would be a hundred million times here, and never end.
        ("nested inherited names", inherited),
        ("branches that all change and refer to others", json!({ "anyOf": branches })),
        ("references inside of a long name", json!({ "$id": long_id(), "anyOf": inside })),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
}

/// Schemas with a long text that is part of many others, and why each is refused.
fn long() -> [(String, (Value, &'static str)); 3] {
    let many =
        |key: &str| -> Value { (0..4_000).map(|at| json!({ key: format!("n{at}") })).collect() };
    let below = vec![json!({ "not": { "prefixItems": [] } }); 10_000];
    let uris = "bytes of URIs";
    [
        (
            "a key above many places",
            json!({ "properties": { "k".repeat(100_000): { "anyOf": below } } }),
            "bytes of pointers",
        ),
        ("a name above many", json!({ "$id": long_id(), "anyOf": many("$id") }), uris),
        ("a name above many references", json!({ "$id": long_id(), "anyOf": many("$ref") }), uris),
    ]
    .map(|(name, schema, reason)| (name.to_owned(), (schema, reason)))
}

fn is_refused((schema, reason): &(Value, &str)) -> Result<(), Failed> {
    match project_tool(&tool(schema), &LEGACY) {
        Err(error) if error.to_string().contains(reason) => Ok(()),
        Err(error) => Err(error.to_string().into()),
        Ok(_) => Err("projected".into()),
    }
}
