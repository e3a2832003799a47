//! The weight of the project: lines, crates, build time, size.
#![expect(clippy::print_stdout, reason = "the report is the output")]

mod build;
mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, bail};

use self::build::Build;
use self::lines::{GENERATED, Lines};
use crate::command::{cargo, output};
use crate::workspace;

/// The ceilings.
const TABLE: &str = "xtask/weight.txt";

/// The line of the table that is no folder.
const CRATES: &str = "crates that the command needs";

/// How many of the longest and slowest are printed.
const SHOWN: usize = 10;

/// Print the weight of the project: lines by folder, longest files and functions, crates, build time
#[derive(clap::Args)]
pub(crate) struct Weigh {
    /// Only compare lines and crates with `xtask/weight.txt`, and fail where they exceed it; a part of `test`
    #[arg(long, conflicts_with = "build")]
    check: bool,
    /// Also build the command from nothing in `target/weigh`, for its build time and size
    #[arg(long)]
    build: bool,
}

impl Weigh {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if self.check {
            return check();
        }
        let mut lines = Lines::count()?;
        let generated = lines.folders.remove(GENERATED).unwrap_or_default();
        println!("lines");
        for (folder, count) in &lines.folders {
            println!("{count:>8}  {folder}");
        }
        println!("{:>8}  in all", lines.folders.values().sum::<usize>());
        println!("{generated:>8}  more, {GENERATED}: lock files, transcripts, tables");
        print_longest("longest files, without tests", &lines.files);
        print_longest("longest functions, without tests, by indentation", &lines.functions);
        println!("\n{CRATES}\n{:>8}", crates()?);
        if self.build {
            print_build(&Build::run()?);
        }
        Ok(())
    }
}

/// Fails with a line for each folder that is over its ceiling, or has none.
pub(crate) fn check() -> anyhow::Result<()> {
    eprintln!("$ lines and crates in {TABLE}");
    let table = fs::read_to_string(workspace::root().join(TABLE)).context(TABLE)?;
    let limits = parse(&table)?;
    let mut found = Lines::count()?.folders;
    found.remove(GENERATED);
    found.insert(CRATES.to_owned(), crates()?);
    let excesses = excesses(&found, &limits);
    if !excesses.is_empty() {
        bail!("{}", excesses.join("\n"));
    }
    Ok(())
}

/// The ceilings of the table: a line is a name and a number.
fn parse(table: &str) -> anyhow::Result<BTreeMap<String, usize>> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (name, limit) = line.rsplit_once(' ')?;
        Some((name.trim().to_owned(), limit.parse().ok()?))
    };
    lines
        .map(|line| {
            entry(line).with_context(|| format!("{TABLE}: expected a name and a number: {line}"))
        })
        .collect()
}

fn excesses(found: &BTreeMap<String, usize>, limits: &BTreeMap<String, usize>) -> Vec<String> {
    let over = found.iter().filter_map(|(name, count)| match limits.get(name) {
        Some(limit) if count <= limit => None,
        Some(limit) => Some(format!(
            "{name}: found {count}, limit {limit}: change {TABLE} in the same commit and say why"
        )),
        None => Some(format!("{name}: found {count}, no limit: add a line to {TABLE}")),
    });
    let gone = limits.keys().filter(|name| !found.contains_key(*name));
    over.chain(gone.map(|name| format!("{name}: not found: remove its line from {TABLE}")))
        .collect()
}

/// How many crates the command needs on Linux, those that only build others included.
fn crates() -> anyhow::Result<usize> {
    let mut tree = cargo(["tree", "--package", "toolbond-cli", "--edges", "no-dev"]);
    tree.args(["--prefix", "none", "--target", "x86_64-unknown-linux-gnu"]);
    let tree = output(tree)?;
    // A line is a name, a version, and notes in parentheses.
    let packages = tree.lines().map(|line| line.split(" (").next().unwrap_or(line));
    Ok(packages.collect::<BTreeSet<_>>().len())
}

fn print_longest(title: &str, rows: &[(usize, String)]) {
    println!("\n{title}");
    for (count, name) in rows.iter().take(SHOWN) {
        println!("{count:>8}  {name}");
    }
}

fn print_build(build: &Build) {
    println!("\nbuild from nothing, profile release");
    println!("{:>8.0}  seconds", build.wall.as_secs_f64());
    if let Some(processor) = build.processor {
        println!("{:>8.0}  seconds of processor time", processor.as_secs_f64());
    }
    println!("\nslowest crates, in seconds of that build");
    for (seconds, name) in build.crates.iter().take(2 * SHOWN) {
        println!("{seconds:>8.1}  {name}");
    }
    println!("\nbytes of the command, profile dist\n{:>8}", build.size);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{excesses, parse};

    #[test]
    fn an_excess_names_folder_found_and_limit() {
        let limits = parse("# a comment\n\ndocs      100\ncrates/a/tests 20\ngone 1\n").unwrap();
        let found = [("docs", 101), ("crates/a/tests", 20), ("new", 3)];
        let found: BTreeMap<_, _> = found.map(|(name, count)| (name.to_owned(), count)).into();
        assert_eq!(
            excesses(&found, &limits),
            [
                "docs: found 101, limit 100: change xtask/weight.txt in the same commit and say why",
                "new: found 3, no limit: add a line to xtask/weight.txt",
                "gone: not found: remove its line from xtask/weight.txt",
            ]
        );
        assert!(parse("docs many\n").is_err());
    }
}
