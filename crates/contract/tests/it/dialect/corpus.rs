//! The schemas of published tools that declare an older dialect: all are converted, and mean what they meant.

use std::collections::BTreeSet;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Action, convert_tool, restore_tool};
use toolbond_harness::corpus::Server;
use toolbond_harness::generate::{Rng, sample};
use toolbond_harness::{corpus, trials};
use toolbond_schema::{Dialect, Schema};

use crate::project::official::is_same;
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
            if converted.findings.len() != older.len()
                || converted.findings.iter().any(|finding| finding.action != Action::Converted)
            {
                return Err(format!("{name}: {:?}", converted.findings).into());
            }
            if !is_same(&restore_tool(&converted.tool), tool) {
                return Err(format!("{name}: not restored").into());
            }
            for side in older {
                let (before, after) = (&tool[side], &converted.tool[side]);
                // A schema that is not admitted has no meaning to keep.
                let Ok(compiled) = Schema::compile(before) else { continue };
                let again = Schema::compile(after).map_err(|error| format!("{name}: {error}"))?;
                let values = (0..VALUES).map(|_| sample(&mut rng, before, 8));
                let values: Vec<_> =
                    values.map(|value| (compiled.is_valid(&value), value)).collect();
                if let Some((_, value)) =
                    values.iter().find(|(valid, it)| again.is_valid(it) != *valid)
                {
                    return Err(format!("{name}: {value} under {after}").into());
                }
                let values = values.into_iter().map(|(valid, value)| (value, valid)).collect();
                questions.push(Question { name: name.clone(), schema: after.clone(), values });
            }
        }
    }
    let verdicts = questions.iter().flat_map(|question| &question.values);
    let verdicts: BTreeSet<bool> = verdicts.map(|(_, valid)| *valid).collect();
    if verdicts.len() != 2 {
        return Err("values of one kind only".into());
    }
    agrees(ajv_as("2020-12"), &questions, BTreeSet::new())
}
