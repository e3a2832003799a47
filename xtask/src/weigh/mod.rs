//! The weight of the project: lines, crates, build time, size.
#![expect(clippy::print_stdout, reason = "the report is the output")]

mod build;
mod lines;
mod parts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, bail};

use self::build::Build;
use self::lines::{GENERATED, Lines, Part};
use crate::command::{cargo, output};
use crate::known::{self, known};
use crate::modules;
use crate::workspace::{self, GUARD_CRATES};

/// The ceilings.
const TABLE: &str = "xtask/weight.txt";

/// The line of the table that is no folder.
const CRATES: &str = "crates that the command needs";

/// Lines that a function of the guard may have.
const MAX_LINES: usize = 80;

/// Parameters that a function of the guard may have, without `self`.
const MAX_PARAMETERS: usize = 7;

/// Fields that are `bool` that a struct of the guard may have.
const MAX_BOOLS: usize = 3;

/// How many of the longest and slowest are printed.
const SHOWN: usize = 10;

/// Print the weight of the project: lines by folder, what is longest, knots, crates, build time
#[derive(clap::Args)]
pub(crate) struct Weigh {
    /// Only compare lines and crates with `xtask/weight.txt`, and functions and structs of the guard with
    /// `xtask/known.txt`, and fail where they exceed it; a part of `test`
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
        let guard = GUARD_CRATES.iter().filter_map(|name| lines.folders.get(*name));
        println!("{:>8}  in the crates of the guard, without tests", guard.sum::<usize>());
        println!("{generated:>8}  more, {GENERATED}: lock files, transcripts, tables");
        print_longest("longest files, without tests", &lines.files);
        print_parts("longest functions, without tests, by indentation", &lines.functions);
        print_parts("most parameters, in the guard", &lines.parameters);
        print_parts("most fields that are `bool`, in the guard", &lines.bools);
        println!("\nfiles that import each other");
        for knot in modules::knots()? {
            println!("{}", knot.describe());
        }
        println!("\n{CRATES}\n{:>8}", crates()?);
        if self.build {
            print_build(&Build::run()?);
        }
        Ok(())
    }
}

/// Fails with a line for each folder that is over its ceiling, or has none, and for each function or struct of the
/// guard that is too large.
pub(crate) fn check() -> anyhow::Result<()> {
    eprintln!(
        "$ lines and crates in {TABLE}, functions and structs of the guard in {}",
        known::TABLE
    );
    let table = fs::read_to_string(workspace::root().join(TABLE)).context(TABLE)?;
    let limits = parse(&table).context(TABLE)?;
    let mut lines = Lines::count()?;
    lines.folders.remove(GENERATED);
    lines.folders.insert(CRATES.to_owned(), crates()?);
    let mut excesses = excesses(&lines.folders, &limits);
    let of_guard =
        |part: &Part| GUARD_CRATES.iter().any(|name| part.file.starts_with(&format!("{name}/")));
    lines.functions.retain(of_guard);
    for (kind, parts, limit) in [
        ("lines", &lines.functions, MAX_LINES),
        ("parameters", &lines.parameters, MAX_PARAMETERS),
        ("bools", &lines.bools, MAX_BOOLS),
    ] {
        let known = parse(&known(kind)?.join("\n")).context(known::TABLE)?;
        excesses.extend(too_large(kind, parts, limit, &known));
    }
    if !excesses.is_empty() {
        bail!("{}", excesses.join("\n"));
    }
    Ok(())
}

/// The ceilings of a table: a line is a name and a number.
fn parse(table: &str) -> anyhow::Result<BTreeMap<String, usize>> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (name, limit) = line.rsplit_once(' ')?;
        Some((name.trim().to_owned(), limit.parse().ok()?))
    };
    lines
        .map(|line| entry(line).with_context(|| format!("expected a name and a number: {line}")))
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

/// A message for each part that is over the limit of its kind and over its line in the table of known ones, and for
/// each line of that table that is not needed.
fn too_large(
    kind: &str,
    parts: &[Part],
    limit: usize,
    known: &BTreeMap<String, usize>,
) -> Vec<String> {
    let over = parts.iter().filter(|part| part.size > limit);
    // The largest comes first in `parts`, and stands for all of its name in its file.
    let over: BTreeMap<_, _> =
        over.rev().map(|part| (format!("{} {}", part.file, part.name), part)).collect();
    let grown = over.iter().filter_map(|(name, part)| {
        let limit = known.get(name).copied().unwrap_or(limit);
        let place = format!("{}:{}: {}", part.file, part.line, part.name);
        (part.size > limit).then(|| format!("{place}: found {} {kind}, limit {limit}", part.size))
    });
    let gone = known.keys().filter(|name| !over.contains_key(*name));
    let gone = gone.map(|name| {
        format!("{kind} {name}: at most {limit}: remove its line from {}", known::TABLE)
    });
    grown.chain(gone).collect()
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

fn print_parts(title: &str, parts: &[Part]) {
    let rows = parts.iter().take(SHOWN);
    let rows = rows.map(|part| (part.size, format!("{}:{} {}", part.file, part.line, part.name)));
    print_longest(title, &rows.collect::<Vec<_>>());
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

    use super::{Part, excesses, parse, too_large};

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

    #[test]
    fn known_excesses_may_only_shrink() {
        let part = |size, line, name: &str| Part {
            size,
            file: "a.rs".to_owned(),
            line,
            name: name.to_owned(),
        };
        let known = parse("a.rs long 90\na.rs grown 85\na.rs small 81\na.rs gone 99\n").unwrap();
        let parts =
            [part(90, 1, "long"), part(86, 2, "grown"), part(81, 3, "new"), part(80, 4, "small")];
        assert_eq!(
            too_large("lines", &parts, 80, &known),
            [
                "a.rs:2: grown: found 86 lines, limit 85",
                "a.rs:3: new: found 81 lines, limit 80",
                "lines a.rs gone: at most 80: remove its line from xtask/known.txt",
                "lines a.rs small: at most 80: remove its line from xtask/known.txt",
            ]
        );
    }
}
