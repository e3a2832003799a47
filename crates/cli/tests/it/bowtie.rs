//! `toolbond bowtie`: the official suite through the harness protocol.

use serde_json::{Map, Value, json};
use toolbond_harness::suite::{self, Group, Kind};
use toolbond_schema::{Dialect, Verdict};

use crate::command::{texts, toolbond_with};

/// The answers to `requests`, one value a line.
fn answers(requests: &[Value]) -> Vec<Value> {
    let text = requests.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let (code, text, said) = texts(toolbond_with(&["bowtie"], &text));
    assert_eq!(code, Some(0), "{said}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// As Bowtie does, the registry goes only with the files that need it.
fn run(seq: usize, file: &str, group: &Group, registry: &Map<String, Value>) -> Value {
    let remote = ["refRemote", "dynamicRef", "vocabulary", "cross-draft", "format-assertion"];
    let registry = remote.iter().any(|name| file.contains(name)).then_some(registry);
    let tests = group.tests.iter();
    let tests: Vec<_> = tests
        .map(|test| json!({ "description": test.description, "instance": test.data }))
        .collect();
    json!({ "cmd": "run", "seq": seq, "case": {
        "description": group.description, "schema": group.schema, "registry": registry, "tests": tests
    }})
}

/// Every case of `dialect` gets the answer that the library gives.
fn agrees(dialect: Dialect) {
    let documents = suite::documents(dialect);
    let registry: Map<_, _> = documents.iter().cloned().collect();
    let mut requests = vec![
        json!({ "cmd": "start", "version": 1 }),
        json!({ "cmd": "dialect", "dialect": dialect.uri() }),
    ];
    let mut expected = Vec::new();
    let files = suite::files().into_iter();
    for file in files.filter(|file| file.dialect == dialect && file.kind != Kind::Format) {
        let options = file.options(&documents);
        for group in file.groups() {
            requests.push(run(expected.len(), &file.name, &group, &registry));
            let schema = options.compile(&group.schema);
            let verdicts: Option<Vec<_>> = schema
                .ok()
                .map(|schema| group.tests.iter().map(|test| schema.validate(&test.data)).collect());
            expected.push((format!("{}: {}", file.name, group.description), verdicts));
        }
    }
    requests.push(json!({ "cmd": "stop" }));

    let answers = answers(&requests);
    assert_eq!(answers[0]["ready"], true);
    assert_eq!(answers[1], json!({ "ok": true }));
    assert_eq!(answers.len(), expected.len() + 2);
    for (seq, ((name, verdicts), answer)) in expected.iter().zip(&answers[2..]).enumerate() {
        assert_eq!(answer["seq"], seq, "{name}");
        let Some(verdicts) = verdicts else {
            assert_eq!(answer["errored"], true, "{name}: {answer}");
            continue;
        };
        let valid: Vec<_> = verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Unfinished(_) => Value::Null,
                verdict => json!(verdict.is_valid()),
            })
            .collect();
        let answered: Vec<_> = answer["results"]
            .as_array()
            .unwrap_or_else(|| panic!("{name}: {answer}"))
            .iter()
            .map(|result| result["valid"].clone())
            .collect();
        assert_eq!(answered, valid, "{name}");
    }
}

/// One test, one dialect.
macro_rules! dialects {
    ($($name:ident: $dialect:ident;)*) => {$(
        #[test]
        fn $name() {
            agrees(Dialect::$dialect);
        }
    )*};
}

dialects! {
    answers_as_the_library_for_draft_04: Draft4;
    answers_as_the_library_for_draft_06: Draft6;
    answers_as_the_library_for_draft_07: Draft7;
    answers_as_the_library_for_2019_09: Draft201909;
    answers_as_the_library_for_2020_12: Draft202012;
}

#[test]
fn answers_an_error_for_what_is_not_decided() {
    let case = |schema: Value, instance: Value| {
        json!({ "cmd": "run", "seq": "s", "case": {
            "description": "", "schema": schema, "tests": [{ "description": "", "instance": instance }]
        }})
    };
    let objects: Vec<_> = (0..5000).map(|n| json!({ "n": n })).collect();
    let items = vec![json!({ "n": 4999 }); 5000];
    let answers = answers(&[
        json!({ "cmd": "start", "version": 1 }),
        json!({ "cmd": "dialect", "dialect": "https://example.com/draft" }),
        case(json!({ "$ref": "https://example.com/a" }), json!(1)),
        case(json!({ "items": { "enum": objects } }), items.into()),
    ]);
    assert_eq!(answers[1], json!({ "ok": false }));
    assert_eq!(answers[2]["errored"], true);
    assert_eq!(answers[2]["seq"], "s");
    assert_eq!(answers[3]["results"][0]["errored"], true);
}
