//! Runs the converters that targets publish.

use std::thread;

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::{files, peers, process, trials};

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

/// Whether the whole corpus is converted and checked, instead of a part.
pub(crate) fn all() -> bool {
    std::env::var("TOOLBOND_CONVERTERS").is_ok_and(|it| it == "all")
}

/// A trial that runs hosts, which is ignored by default and skipped where they are not installed.
pub(crate) fn host_trial(
    name: &str,
    check: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    let needed = HOSTS.map(|host| format!("hosts/{host}/installed-lock.json"));
    let trial = Trial::ignorable_test(name, move || match missing(&needed) {
        Some(reason) => trials::skipped(&reason),
        None => check(),
    });
    trial.with_ignored_flag(true)
}

/// The hosts, which are named as converters are.
pub(crate) const HOSTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

/// A trial that runs converters, skipped where they are not installed.
pub(crate) fn trial(
    name: &str,
    check: impl FnOnce() -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    let needed = ["python/mcp2", "peers/node_modules"].map(str::to_owned);
    Trial::ignorable_test(name, move || match missing(&needed) {
        Some(reason) => trials::skipped(&reason),
        None => check(),
    })
}

/// Why converters cannot be run, if they cannot.
fn missing(needed: &[String]) -> Option<String> {
    let testkit = files::root().join("target/testkit");
    needed
        .iter()
        .find(|name| !testkit.join(name).exists())
        .map(|name| format!("target/testkit/{name} is missing: `cargo xtask setup` installs it"))
}

/// Runs hosts over `tools`, as [`convert`] runs converters.
pub(crate) fn convert_in_hosts(tools: &[Value]) -> Vec<Converted> {
    run("hosts/convert.mjs", &text(tools))
}

/// Runs all converters over `tools`, or those that a line names in `converters`: the arguments of each line beside its
/// number.
pub(crate) fn convert(tools: &[Value]) -> Vec<Converted> {
    let lines = text(tools);
    thread::scope(|scope| {
        let one = scope.spawn(|| run("converters/convert.py", &lines));
        let mut all = run("converters/convert.mjs", &lines);
        all.extend(one.join().unwrap());
        all
    })
}

/// The lines that converters read.
fn text(tools: &[Value]) -> String {
    let line = |(id, line): (usize, &Value)| {
        let mut line = line.clone();
        line["id"] = json!(id);
        format!("{line}\n")
    };
    tools.iter().enumerate().map(line).collect()
}

fn run(program: &str, lines: &str) -> Vec<Converted> {
    let output = process::run(peers::command(program), lines);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    String::from_utf8(output.stdout).unwrap().lines().map(read).collect()
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
