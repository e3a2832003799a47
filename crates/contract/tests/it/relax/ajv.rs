//! Ajv as the client: what is handed out next accepts the value, and whatever Ajv accepted before.

use std::borrow::Cow;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Projection, Revision, project_result};
use toolbond_harness::trials::none_of;
use toolbond_schema::{Dialect, Options, Schema};

use super::{cases, relaxed};
use crate::project::official;
use crate::project::random::{Random, schemas};
use crate::project::reader::{Question, ajv_as, ask};

const LEGACY: Revision = Revision::V2025_11_25;

/// Values for each random schema.
const VALUES: usize = 24;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("relax/ajv/suite_2020-12", || accepts_more("2020-12", &suite("2020-12"))),
        Trial::test("relax/ajv/suite_draft-07", || accepts_more("draft-07", &suite("draft-07"))),
        Trial::test("relax/ajv/random_2020-12", || accepts_more("2020-12", &random("2020-12"))),
        Trial::test("relax/ajv/random_draft-07", || accepts_more("draft-07", &random("draft-07"))),
        Trial::test("relax/ajv/cases_2020-12", || accepts_more("2020-12", &broken("2020-12")?)),
        Trial::test("relax/ajv/cases_draft-07", || accepts_more("draft-07", &broken("draft-07")?)),
    ]
}

/// A schema as its author wrote it, what it became, and the values that both accept; the last is the one that it became so
/// for.
struct Relaxed {
    name: String,
    author: Value,
    after: Value,
    values: Vec<Value>,
}

fn suite(reader: &str) -> Vec<Relaxed> {
    let mut all = Vec::new();
    let files = official::files();
    let read =
        files.iter().filter(|file| reader != "2020-12" || file.dialect == Dialect::Draft202012);
    for example in read.flat_map(official::examples) {
        // Ajv is not given the documents that some of them refer to.
        let Ok(author) = Options::default().compile(&example.tool["outputSchema"]) else {
            continue;
        };
        let valid = example.values.iter().filter(|(_, _, valid)| *valid);
        let valid: Vec<_> = valid.map(|(_, value, _)| value.clone()).collect();
        for (_, value, _) in example.values.iter().filter(|(_, _, valid)| !valid) {
            all.extend(relax_for(&author, &valid, value, &example.name));
        }
    }
    all
}

fn random(reader: &str) -> Vec<Relaxed> {
    let dialect = if reader == "2020-12" { Dialect::Draft202012 } else { Dialect::Draft7 };
    let mut random = Random::new(5, dialect);
    let mut all = Vec::new();
    for _ in 0..schemas() {
        let schema = random.document();
        let Ok(author) = Schema::compile(&schema) else { continue };
        let values: Vec<_> = (0..VALUES).map(|_| random.value(3)).collect();
        let (valid, invalid): (Vec<_>, Vec<_>) =
            values.into_iter().partition(|value| author.is_valid(value));
        for value in invalid.iter().take(2) {
            all.extend(relax_for(&author, &valid, value, &schema.to_string()));
        }
    }
    all
}

/// Every kind of violation, at the root and nested.
fn broken(reader: &str) -> Result<Vec<Relaxed>, Failed> {
    let is_read = |author: &Schema| reader != "2020-12" || author.dialect() == Dialect::Draft202012;
    let all = cases::all()?.into_iter().filter(|(author, ..)| is_read(author));
    let name = |author: &Schema| author.source().to_string();
    Ok(all
        .filter_map(|(author, valid, value)| relax_for(&author, &valid, &value, &name(&author)))
        .collect())
}

fn relax_for(author: &Schema, valid: &[Value], value: &Value, name: &str) -> Option<Relaxed> {
    let after = relaxed(author, value).unwrap_or_else(|error| panic!("{name}: {error:?}"))?;
    let values = valid.iter().chain([value]).cloned().collect();
    let (author, after) = (author.source().clone(), after.source().clone());
    Some(Relaxed { name: name.to_owned(), author, after, values })
}

/// Fails where `reader` refuses a value of a relaxed schema that it accepted before, or the value that it became so for,
/// unless the author's schema is one that it cannot read, or refuses valid values of.
fn accepts_more(reader: &str, all: &[Relaxed]) -> Result<(), Failed> {
    let mut questions = Vec::new();
    for Relaxed { name, author, after, values } in all {
        for schema in [author, after] {
            let Some((schema, values)) = as_read(reader, schema, values) else { continue };
            let values = values.into_iter().map(|value| (value, true)).collect();
            questions.push(Question { name: name.clone(), schema, values });
        }
    }
    let answers = ask(ajv_as(reader), &questions)?;
    let (mut faults, mut accepted) = (Vec::new(), 0);
    for (pair, answers) in questions.chunks(2).zip(answers.chunks(2)) {
        let [before, after] = answers else { return Err("an answer without the other".into()) };
        let Some(before) = before["accepted"].as_array() else { continue };
        let after = after["accepted"].as_array().map_or(&[][..], Vec::as_slice);
        let (valid, own) = before.split_at(before.len() - 1);
        // Ajv finds in every object what JavaScript objects inherit; a projection takes care of that.
        let is_plain = reader != "2020-12" || !names_inherited(&pair[0].schema);
        let reads_right = valid.iter().all(|it| *it == true) && own[0] == false && is_plain;
        for (at, was) in before.iter().enumerate() {
            let is_own = at + 1 == before.len();
            let is_expected = if is_own { reads_right } else { *was == true };
            if is_expected && after.get(at) != Some(&Value::Bool(true)) {
                let (value, schema) = (&pair[1].values[at].0, &pair[1].schema);
                faults.push(format!("{}: refuses {value} under {schema}", pair[0].name));
            }
            accepted += usize::from(is_expected);
        }
    }
    if accepted < 200 {
        return Err(format!("only {accepted} values").into());
    }
    none_of(faults)
}

/// A schema and values as a client of `reader` gets them: one of 2020-12 as they are, others as a legacy revision has them.
/// Fails if the form of the results is another one after relaxing.
fn as_read(reader: &str, schema: &Value, values: &[Value]) -> Option<(Value, Vec<Value>)> {
    if reader == "2020-12" {
        return Some((schema.clone(), values.to_vec()));
    }
    let tool = json!({ "name": "t", "outputSchema": schema });
    let projected = Projection::default().project_tool(&tool, &LEGACY).ok()?;
    let sent = values.iter().map(|value| {
        let result = official::result(value);
        let sent = project_result(Cow::Borrowed(&result), projected.form, &LEGACY).ok()?;
        Some(sent["structuredContent"].clone())
    });
    Some((projected.tool["outputSchema"].clone(), sent.collect::<Option<_>>()?))
}

fn names_inherited(schema: &Value) -> bool {
    let text = schema.to_string();
    ["constructor", "hasOwnProperty"].iter().any(|name| text.contains(name))
}
