//! Validation beside the plain `jsonschema` crate, which has no bound on cost.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use jsonschema::Validator;
use serde_json::Value;
use toolbond_schema::{Options, Schema};

use crate::timing::{compare, geometric_mean};

/// A schema and the instances to try it on.
struct Case {
    name: String,
    schema: Value,
    instances: Vec<Value>,
}

/// The columns of the report.
const WAYS: [&str; 4] = ["compile", "accept", "reject", "explain"];

/// Runs every case of `folder`, or our own.
pub(crate) fn run(folder: Option<PathBuf>) -> anyhow::Result<()> {
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/schema"));
    let cases = read(&folder)?;
    ensure!(!cases.is_empty(), "no cases in {}", folder.display());
    println!("time of toolbond-schema / time of jsonschema 0.60.2, fastest of 40 rounds in turns");
    println!("{:<28} {:>9} {:>9} {:>9} {:>9}", "case", WAYS[0], WAYS[1], WAYS[2], WAYS[3]);
    let mut ratios: [Vec<f64>; 4] = Default::default();
    for case in &cases {
        let row = measure(case).with_context(|| case.name.clone())?;
        print!("{:<28}", case.name);
        for (ratio, all) in row.iter().zip(&mut ratios) {
            match ratio {
                Some(ratio) => {
                    print!(" {ratio:>9.2}");
                    all.push(*ratio);
                }
                None => print!(" {:>9}", "-"),
            }
        }
        println!();
    }
    print!("{:<28}", "geometric mean");
    for all in &ratios {
        print!(" {:>9.2}", geometric_mean(all));
    }
    print!("\n{:<28}", "largest");
    for all in &ratios {
        print!(" {:>9.2}", all.iter().copied().fold(0.0, f64::max));
    }
    println!();
    Ok(())
}

fn measure(case: &Case) -> anyhow::Result<[Option<f64>; 4]> {
    let options = Options::default();
    let plain =
        || jsonschema::options().offline().should_validate_formats(false).build(&case.schema);
    let ours = options.compile(&case.schema)?;
    let theirs = plain().map_err(|error| anyhow::anyhow!("{error}"))?;
    let (valid, invalid): (Vec<&Value>, Vec<&Value>) =
        case.instances.iter().partition(|instance| theirs.is_valid(instance));
    for instance in &case.instances {
        ensure!(ours.is_valid(instance) == theirs.is_valid(instance), "verdicts differ");
    }
    let ratio = |(ours, theirs): (f64, f64)| Some(ours / theirs);
    Ok([
        ratio(compare(|| options.compile(&case.schema).is_ok(), || plain().is_ok())),
        decide(&ours, &theirs, &valid).and_then(ratio),
        decide(&ours, &theirs, &invalid).and_then(ratio),
        explain(&ours, &theirs, &invalid).and_then(ratio),
    ])
}

fn decide(ours: &Schema, theirs: &Validator, instances: &[&Value]) -> Option<(f64, f64)> {
    (!instances.is_empty()).then(|| {
        compare(
            || instances.iter().filter(|instance| ours.is_valid(instance)).count(),
            || instances.iter().filter(|instance| theirs.is_valid(instance)).count(),
        )
    })
}

/// All violations, in words.
fn explain(ours: &Schema, theirs: &Validator, instances: &[&Value]) -> Option<(f64, f64)> {
    (!instances.is_empty()).then(|| {
        compare(
            || instances.iter().map(|instance| ours.validate(instance)).collect::<Vec<_>>(),
            || {
                let errors = |instance| -> Vec<String> {
                    theirs.iter_errors(instance).map(|error| error.to_string()).collect()
                };
                instances.iter().map(|instance| errors(instance)).collect::<Vec<_>>()
            },
        )
    })
}

fn read(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut cases = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let schema = path.join("schema.json");
        if schema.is_file() {
            let lines = fs::read_to_string(path.join("instances.jsonl"))?;
            cases.push(Case {
                name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                schema: serde_json::from_slice(&fs::read(schema)?)?,
                instances: lines
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .map(serde_json::from_str)
                    .collect::<Result<_, _>>()?,
            });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}
