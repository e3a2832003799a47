//! Runs the converters that targets publish.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::thread;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::{files, peers, trials};

/// What a converter makes of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Converted {
    /// The number of the tool.
    pub(crate) id: usize,
    pub(crate) converter: String,
    pub(crate) made: Made,
}

#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// A schema; `null` if the tool is sent without parameters.
    Schema(Value),
    /// A regular expression for the text of the arguments.
    Regex(String),
    /// The converter throws.
    Error(String),
}

const PYTHON: &str = "converters/convert.py";
const NODE: &str = "converters/convert.mjs";

/// Whether the whole corpus is converted and checked, instead of a part.
pub(crate) fn all() -> bool {
    std::env::var("TOOLBOND_CONVERTERS").is_ok_and(|it| it == "all")
}

/// A trial that runs converters, skipped where they are not installed.
pub(crate) fn trial(
    name: &str,
    check: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, || match missing() {
        Some(reason) => trials::skipped(&reason),
        None => check(),
    })
}

/// Why the converters cannot be run, if they cannot.
fn missing() -> Option<String> {
    let testkit = files::root().join("target/testkit");
    ["python/mcp2", "peers/node_modules"]
        .iter()
        .find(|name| !testkit.join(name).exists())
        .map(|name| format!("target/testkit/{name} is missing: `cargo xtask setup` installs it"))
}

/// Runs `names`, or all converters if there are none, over `tools`: the arguments of each line beside its number.
pub(crate) fn convert(tools: &[Value], names: &[&str]) -> Vec<Converted> {
    let python = known(PYTHON);
    let node = known(NODE);
    let of = |known: &[String]| -> Vec<String> {
        known
            .iter()
            .filter(|name| names.is_empty() || names.contains(&name.as_str()))
            .cloned()
            .collect()
    };
    let (python, node) = (of(&python), of(&node));
    thread::scope(|scope| {
        let one = scope.spawn(|| run(PYTHON, &python, tools));
        let mut all = run(NODE, &node, tools);
        all.extend(one.join().unwrap());
        all
    })
}

fn known(program: &str) -> Vec<String> {
    let output = peers::command(program).arg("--list").output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

fn run(program: &str, names: &[String], tools: &[Value]) -> Vec<Converted> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut child = peers::command(program)
        .args(names)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: Vec<String> = tools
        .iter()
        .enumerate()
        .map(|(id, line)| {
            let mut line = line.clone();
            line["id"] = json!(id);
            line.to_string()
        })
        .collect();
    let writer = thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = BufReader::new(child.stdout.take().unwrap());
    let converted = output.lines().map(|line| read(&line.unwrap())).collect();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success(), "{program}");
    converted
}

fn read(line: &str) -> Converted {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let made = if let Some(error) = line["error"].as_str() {
        Made::Error(error.to_owned())
    } else if let Some(regex) = line.get("regex") {
        match regex.as_str() {
            Some(regex) => Made::Regex(regex.to_owned()),
            None => Made::Error("the expression is too long".to_owned()),
        }
    } else {
        Made::Schema(line["schema"].take())
    };
    Converted {
        id: usize::try_from(line["id"].as_u64().unwrap()).unwrap(),
        converter: line["converter"].as_str().unwrap().to_owned(),
        made,
    }
}
