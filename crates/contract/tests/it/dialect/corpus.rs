//! The schemas of published tools that declare an older dialect: all are converted, and mean what they meant.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Action, convert_tool, restore_tool};
use toolbond_harness::corpus;
use toolbond_harness::generate::{Rng, sample};
use toolbond_schema::{Dialect, Schema};

use crate::project::official::is_same;
use crate::project::reader::{Question, ask_as};

const VALUES: usize = 12;

pub(crate) fn trials() -> Vec<Trial> {
    match corpus::files() {
        Ok(_) => vec![Trial::test("dialect/corpus", keeps_validity)],
        Err(reason) => {
            eprintln!("skipped: {reason}");
            vec![Trial::test("dialect/corpus", || Ok(())).with_ignored_flag(true)]
        }
    }
}

fn keeps_validity() -> Result<(), Failed> {
    let mut rng = Rng::new(13);
    let (mut questions, mut expected, mut unchanged) = (Vec::new(), Vec::new(), 0);
    for server in corpus::servers()? {
        for tool in server.tools() {
            let name = format!("{} {}", server.name, tool["name"]);
            let converted = convert_tool(tool);
            let is_older = |schema: &Value| {
                Dialect::detect(schema).is_some_and(|dialect| dialect < Dialect::Draft202012)
            };
            let sides = ["inputSchema", "outputSchema"];
            let older: Vec<_> = sides.into_iter().filter(|side| is_older(&tool[*side])).collect();
            if converted.findings.len() != older.len()
                || converted.findings.iter().any(|finding| finding.action != Action::Converted)
            {
                return Err(format!("{name}: {:?}", converted.findings).into());
            }
            if !is_same(&restore_tool(&converted.tool), tool) {
                return Err(format!("{name}: not restored").into());
            }
            unchanged += usize::from(older.is_empty() && is_same(&converted.tool, tool));
            for side in older {
                let (before, after) = (&tool[side], &converted.tool[side]);
                // A schema that is not admitted has no meaning to keep.
                let Ok(compiled) = Schema::compile(before) else { continue };
                let again = Schema::compile(after).map_err(|error| format!("{name}: {error}"))?;
                let values: Vec<_> = (0..VALUES).map(|_| sample(&mut rng, before, 8)).collect();
                for value in &values {
                    if compiled.is_valid(value) != again.is_valid(value) {
                        return Err(format!("{name}: {value} under {after}").into());
                    }
                }
                expected
                    .push(values.iter().map(|value| compiled.is_valid(value)).collect::<Vec<_>>());
                questions.push(Question { name: name.clone(), schema: after.clone(), values });
            }
        }
    }
    for ((question, expected), answer) in
        questions.iter().zip(&expected).zip(ask_as("2020-12", &questions)?)
    {
        if answer["accepted"] != json!(expected) {
            let (name, schema) = (&question.name, &question.schema);
            return Err(format!("{name}: Ajv {answer}, expected {expected:?}: {schema}").into());
        }
    }
    let valid = expected.iter().flatten().filter(|valid| **valid).count();
    let cases = expected.len() * VALUES;
    eprintln!(
        "{} schemas converted, {valid} of {cases} values valid; {unchanged} other tools unchanged",
        questions.len()
    );
    if valid == 0 || valid == cases { Err("values of one kind only".into()) } else { Ok(()) }
}
