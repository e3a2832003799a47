//! Random schemas: fixes keep what they accept, and what is reported as impossible is.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::generate::{Rng, document, sample, value};
use toolbond_schema::Schema;
use toolbond_targets::{LintOptions, lint_tools};

use super::fixes_once;

/// The schemas that are tried.
const SCHEMAS: u64 = 600;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("fixes/random", || (0..SCHEMAS).try_for_each(|seed| fixes_once(&tool(seed)))),
        Trial::test("fixes/nothing_satisfies_what_is_unsatisfiable", || {
            let mut claims = 0;
            for seed in 0..SCHEMAS {
                claims += unsatisfiable(seed)?;
            }
            if claims == 0 { Err("no such schema".into()) } else { Ok(()) }
        }),
    ]
}

fn tool(seed: u64) -> Value {
    let mut schema = document(&mut Rng::new(seed));
    if let Value::Object(schema) = &mut schema {
        schema.insert("type".to_owned(), json!("object"));
    }
    json!({ "name": "t", "inputSchema": schema, "outputSchema": document(&mut Rng::new(!seed)) })
}

/// Tries values on the root schemas that no value should satisfy. Returns how many there are.
fn unsatisfiable(seed: u64) -> Result<usize, Failed> {
    let tool = tool(seed);
    let report = lint_tools(tool.clone(), &LintOptions::default().select("schema-unsatisfiable")?);
    let mut claims = 0;
    for found in &report.findings {
        let pointer = found.finding.pointer.as_str();
        if found.finding.rule == "schema-unsatisfiable"
            && let Some(schema) = tool.pointer(pointer)
            && pointer.matches('/').count() == 1
            && let Ok(compiled) = Schema::compile(schema)
        {
            claims += 1;
            for seed in 0..100 {
                let mut rng = Rng::new(seed);
                let value =
                    if seed % 2 == 0 { value(&mut rng, 3) } else { sample(&mut rng, schema, 6) };
                if compiled.is_valid(&value) {
                    return Err(format!("{schema} accepts {value}").into());
                }
            }
        }
    }
    Ok(claims)
}
