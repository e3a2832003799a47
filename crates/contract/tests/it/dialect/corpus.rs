//! The schemas of published tools that declare an older dialect: all are converted, and mean what they meant.

use std::collections::BTreeSet;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Action, convert_tool, revert_tool};
use toolbond_harness::corpus::Server;
use toolbond_harness::generate::{Rng, sample};
use toolbond_harness::{corpus, trials};
use toolbond_schema::{Dialect, Schema};

use crate::assert_same;
use crate::project::reader::{Question, agrees, ajv_as};

const VALUES: usize = 12;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::ignorable_test("dialect/corpus", || match corpus::servers() {
        Ok(servers) => keeps_validity(servers).map(|()| Completion::Completed),
        Err(reason) => trials::skipped(&reason),
    })]
}

fn keeps_validity(servers: impl Iterator<Item = Server>) -> Result<(), Failed> {
    let mut rng = Rng::new(13);
    let mut questions = Vec::new();
    for server in servers {
        for tool in server.tools() {
            let name = format!("{} {}", server.name, tool["name"]);
            let converted = convert_tool(tool);
            let is_older = |schema: &Value| {
                Dialect::detect(schema).is_some_and(|dialect| dialect < Dialect::Draft202012)
            };
            let sides = ["inputSchema", "outputSchema"];
            let older: Vec<_> = sides.into_iter().filter(|side| is_older(&tool[*side])).collect();
            let actions: Vec<_> = converted.findings.iter().map(|finding| finding.action).collect();
            assert_eq!(actions, vec![Action::Converted; older.len()], "{name}");
            assert_same(&revert_tool(&converted.tool), tool, &name);
            for side in older {
                let (before, after) = (&tool[side], &converted.tool[side]);
                // A schema that is not admitted has no meaning to keep.
                let Ok(compiled) = Schema::compile(before) else { continue };
                let again = Schema::compile(after).map_err(|error| format!("{name}: {error}"))?;
                let values = (0..VALUES).map(|_| {
                    let value = sample(&mut rng, before, 8);
                    let valid = compiled.is_valid(&value);
                    assert!(again.is_valid(&value) == valid, "{name}: {value} under {after}");
                    (value, valid)
                });
                let values = values.collect();
                questions.push(Question { name: name.clone(), schema: after.clone(), values });
            }
        }
    }
    let verdicts = questions.iter().flat_map(|question| &question.values);
    let verdicts: BTreeSet<bool> = verdicts.map(|(_, valid)| *valid).collect();
    assert!(verdicts.len() == 2, "values of one kind only");
    agrees(ajv_as("2020-12"), &questions, BTreeSet::new())
}
