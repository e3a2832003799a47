//! Runs everything that has to pass before a change lands.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::{env, fs};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::command::{answers, cargo, each_line, run as run_command};
use crate::{links, modules, setup, spelling, weigh, workspace};

/// Run what has to pass before a change lands: set-up, formatting, spelling, links, weight, lints, documentation, tests
#[derive(Args)]
pub(crate) struct Test {
    /// Also run the long matrices, and check libraries without their optional features
    #[arg(long)]
    all: bool,
}

/// The libraries are tested with this optional feature, so that nothing is compiled twice.
const FEATURES: [&str; 2] = ["--features", "toolbond/otel"];

impl Test {
    /// Checks formatting, links, imports, weight, lints and documentation and compiles the tests while it downloads what
    /// they need, then checks spelling and runs the tests. The last line says how many passed, failed and were skipped, and why.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let set_up = thread::spawn(setup::run);
        let checked = check();
        let set_up = set_up.join().unwrap_or_else(|panic| resume_unwind(panic));
        checked?;
        // Without a network, tests run on what was downloaded before.
        if let Err(error) = set_up {
            eprintln!("warning: {error:#}");
        }
        setup::tell_missing()?;
        spelling::check()?;
        if self.all {
            check_features()?;
        }
        let mut tally = Tally::start()?;
        self.test(&mut tally)?;
        let mut documentation = cargo(["test", "--workspace", "--doc"]);
        documentation.args(FEATURES);
        tally.add(Runner::Cargo, documentation)?;
        tally.end()
    }

    fn test(&self, tally: &mut Tally) -> anyhow::Result<()> {
        let (runner, mut tests);
        if answers("cargo", &["nextest", "--version"]) {
            runner = Runner::Nextest;
            tests = cargo(["nextest", "run", "--workspace"]);
            // Many tests wait for other processes, so one more runs than there are processors.
            let threads = thread::available_parallelism().map_or(1, NonZero::get) + 1;
            tests.args(FEATURES).args(["--test-threads", &threads.to_string()]);
            if self.all {
                tests.args(["--run-ignored", "all"]);
            }
        } else {
            runner = Runner::Cargo;
            tests = cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]);
            tests.args(FEATURES).args(["--no-fail-fast", "--"]);
            if self.all {
                tests.arg("--include-ignored");
            }
        }
        tally.add(runner, tests)
    }
}

/// What needs nothing but the repository.
fn check() -> anyhow::Result<()> {
    run_command(cargo(["fmt", "--all", "--check"]))?;
    links::check()?;
    modules::check()?;
    weigh::check()?;
    let mut lints = cargo(["clippy", "--workspace", "--all-targets"]);
    lints.args(FEATURES).args(["--", "-D", "warnings"]);
    run_command(lints)?;
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.args(FEATURES).env("RUSTDOCFLAGS", "-D warnings");
    run_command(documentation)?;
    // Tests are run when everything is downloaded, and compiled until then.
    let mut tests = cargo(["test", "--workspace", "--no-run", "--quiet"]);
    tests.args(FEATURES);
    run_command(tests)
}

/// Checks that each library compiles without its optional features.
fn check_features() -> anyhow::Result<()> {
    for library in ["toolbond", "toolbond-guard"] {
        run_command(cargo(["check", "--package", library, "--no-default-features"]))?;
    }
    Ok(())
}

/// What runs tests.
#[derive(Clone, Copy)]
enum Runner {
    /// Ends with `Summary [ 9s] 7 tests run: 5 passed (1 slow), 2 failed, 1 skipped`.
    Nextest,
    /// Ends each program with `test result: ok. 5 passed; 2 failed; 1 ignored; …`.
    Cargo,
}

impl Runner {
    /// The counts in the last line of a run; nothing in other lines. Tests may print the last line of the other runner.
    fn counts(self, line: &str) -> Option<&str> {
        let (start, middle) = match self {
            Self::Nextest => ("Summary [", " run: "),
            Self::Cargo => ("test result: ", ". "),
        };
        Some(line.trim().strip_prefix(start)?.split_once(middle)?.1)
    }
}

/// How many tests passed, failed and did not run.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    /// Tests that the runner left out: the long matrices.
    left_out: usize,
    /// The test whose output is shown, until the reason is found for which it failed.
    shown: Option<String>,
    /// Tests that failed for what is missing, each with the reason; they count as skipped.
    lacking: Vec<(String, String)>,
    /// Whether something failed that is not a test, such as a build.
    is_broken: bool,
}

impl Tally {
    fn start() -> anyhow::Result<Self> {
        fs::create_dir_all(workspace::testkit())?;
        fs::write(skips(), "").with_context(|| skips().display().to_string())?;
        Ok(Self::default())
    }

    /// Runs `command`, which runs tests and says at the end how many.
    fn add(&mut self, runner: Runner, mut command: Command) -> anyhow::Result<()> {
        command.env("TOOLBOND_SKIPPED", skips());
        let failed = self.failed;
        let succeeded = each_line(command, |line| self.read(runner, line))?;
        self.is_broken |= !succeeded && self.failed == failed;
        Ok(())
    }

    /// Adds the counts in the last line of a run, and tests that say that something is missing. `cargo test` shows the
    /// output of those that failed after `---- NAME`; under nextest such tests add themselves to the list of [`skips`].
    fn read(&mut self, runner: Runner, line: &str) {
        if let Some(rest) = line.strip_prefix("---- ") {
            self.shown = rest.split(' ').next().map(str::to_owned);
        } else if let Some((_, reason)) = line.split_once("missing: ")
            && let Some((what, _)) = reason.split_once(" (run `cargo xtask setup`)")
            && let Some(name) = self.shown.take()
        {
            self.lacking.push((name, format!("missing: {what}")));
        }
        let counts = runner.counts(line).unwrap_or_default();
        for count in counts.split([',', ';', '(']) {
            let mut words = count.split_whitespace();
            let number = words.next().and_then(|number| number.parse().ok()).unwrap_or(0);
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed" | "timed") => self.failed += number,
                Some("skipped" | "ignored") => self.left_out += number,
                _ => {}
            }
        }
    }

    /// Says how many tests passed, failed and were skipped, and why; fails if any failed.
    fn end(self) -> anyhow::Result<()> {
        let text = fs::read_to_string(skips()).unwrap_or_default();
        let own = text.lines().filter_map(|line| line.split_once('\t'));
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, reason) in own {
            reasons.entry(reason).or_default().push(name);
        }
        let passed = self.passed - reasons.values().map(Vec::len).sum::<usize>().min(self.passed);
        // Where CI is set, all have to run.
        let is_lenient = env::var_os("CI").is_none();
        let lacking = if is_lenient { &self.lacking[..] } else { &[] };
        for (name, reason) in lacking {
            reasons.entry(reason).or_default().push(name);
        }
        let failed = self.failed - lacking.len().min(self.failed);
        let skipped = self.left_out + reasons.values().map(Vec::len).sum::<usize>();
        let mut why: Vec<_> = reasons.iter().map(|(reason, names)| tell(reason, names)).collect();
        if self.left_out > 0 {
            why.push(format!("{}: long matrices: `cargo xtask test --all`", self.left_out));
        }
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        eprintln!("{passed} passed, {failed} failed, {skipped} skipped{why}");
        if self.is_broken || failed > 0 {
            bail!("the tests failed");
        }
        Ok(())
    }
}

/// How many tests were skipped for `reason`, and in which modules, where something is missing.
fn tell(reason: &str, names: &[&str]) -> String {
    let count = names.len();
    if !reason.starts_with("missing: ") {
        return format!("{count}: {reason}");
    }
    let modules = names.iter().filter_map(|name| name.split([':', '/']).next());
    let modules = Vec::from_iter(modules.collect::<BTreeSet<_>>()).join(" ");
    format!("{count}: {reason}: {modules}")
}

/// The file that tests write the reason into for which they did not run.
fn skips() -> PathBuf {
    workspace::testkit().join("skipped.tsv")
}

#[cfg(test)]
mod tests {
    use super::{Runner, Tally};

    #[test]
    fn counts_are_read_of_both_runners() {
        let mut tally = Tally::default();
        let of_cargo =
            "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out";
        for line in [
            "Summary [   9.1s] 9 tests run: 5 passed (1 slow), 2 failed, 2 timed out, 1 skipped",
            of_cargo,
        ] {
            tally.read(Runner::Nextest, line);
        }
        assert_eq!((tally.passed, tally.failed, tally.left_out), (5, 4, 1));
        tally.read(Runner::Cargo, of_cargo);
        assert_eq!((tally.passed, tally.failed, tally.left_out), (8, 5, 3));
        for line in [
            "---- one::two stdout ----",
            "thread 'one::two' panicked at x.rs:1:1:",
            "missing: node (run `cargo xtask setup`)",
            "missing: node (run `cargo xtask setup`)",
            "---- three/four ----",
            "test panicked: missing: python/mcp2 (run `cargo xtask setup`)",
            "---- five ----",
            "missing: something else",
        ] {
            tally.read(Runner::Cargo, line);
        }
        let lacking: Vec<_> = tally.lacking.iter().map(|(name, why)| [&name[..], why]).collect();
        let expected = [["one::two", "missing: node"], ["three/four", "missing: python/mcp2"]];
        assert_eq!(lacking, expected);
    }
}
