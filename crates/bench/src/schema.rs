//! Validation beside the plain `jsonschema` crate, which has no bound on cost.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use jsonschema::Validator;
use serde_json::Value;
use toolbond_schema::{Options, Schema};

use crate::stats::{compare, geometric_mean};
use crate::table::Table;

/// A schema and the instances to try it on.
struct Case {
    name: String,
    schema: Value,
    instances: Vec<Value>,
}

/// Runs every case of `folder`, or our own.
pub(crate) fn run(folder: Option<PathBuf>) -> anyhow::Result<()> {
    let folder =
        folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/schema"));
    let cases = read(&folder)?;
    ensure!(!cases.is_empty(), "no cases in {}", folder.display());
    println!("time of toolbond-schema / time of jsonschema 0.60.2, fastest of 40 rounds in turns");
    let table = Table::start("<28 case | >9 compile | >9 accept | >9 reject | >9 explain");
    let row = |name: &str, ratios: [Option<f64>; 4]| {
        let shown = |ratio: f64| format!("{ratio:.2}");
        let [a, b, c, d] = ratios.map(|ratio| ratio.map_or_else(|| "-".to_owned(), shown));
        table.row(&[&name, &a, &b, &c, &d]);
    };
    let mut columns: [Vec<f64>; 4] = Default::default();
    for case in &cases {
        let ratios = measure(case).with_context(|| case.name.clone())?;
        row(&case.name, ratios);
        columns.iter_mut().zip(ratios).for_each(|(column, ratio)| column.extend(ratio));
    }
    row("geometric mean", columns.each_ref().map(|column| Some(geometric_mean(column))));
    let largest = |column: &Vec<f64>| column.iter().copied().reduce(f64::max);
    row("largest", columns.each_ref().map(largest));
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
