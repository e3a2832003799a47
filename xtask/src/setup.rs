//! Downloads what the tests need, and says which of them cannot run without it.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::thread;

use anyhow::bail;

use crate::{command, node, python, suite, workspace};

/// What the system lacks, and the tests that cannot run for that.
struct Missing {
    /// A program, or what could not be downloaded.
    name: &'static str,
    /// How the names of the tests begin.
    tests: &'static [&'static str],
}

/// A group of tests, by what it needs.
struct Group {
    /// The program that they run; none if what is installed runs by itself.
    runs: Option<&'static str>,
    /// The program that installs the rest.
    installs: &'static str,
    /// Below `target/testkit`; there once all is installed.
    place: &'static str,
    /// How the names of the tests begin.
    tests: &'static [&'static str],
}

const GROUPS: [Group; 4] = [
    Group {
        runs: Some("node"),
        installs: "npm",
        place: "peers/installed-lock.json",
        tests: &[
            "agreement/",
            "bundle/peers/ajv",
            "bypass_",
            "clients::",
            "conformance::",
            "dialect/",
            "dialects::",
            "differential::",
            "eras::",
            "ext_proc::",
            "fleet_faults::",
            "guard_bridge::",
            "guard_config::",
            "guard_conformance::",
            "guard_faults::",
            "guard_fetch::",
            "guard_http::",
            "guard_many::",
            "guard_modern::",
            "guard_peers::",
            "guard_repairs::",
            "guard_views::",
            "inspector::",
            "lint_formats::",
            "pairs::",
            "project/",
            "published::",
            "servers::",
            "survive/",
            "views/",
        ],
    },
    Group {
        runs: Some("python3"),
        installs: "pip",
        place: "python/mcp2/installed-requirements.txt",
        tests: &[
            "agreement/",
            "bundle/peers/jsonschema",
            "bypass_",
            "clients::",
            "dialects::",
            "differential::",
            "eras::",
            "ext_proc::",
            "guard_details::",
            "guard_fetch::",
            "guard_repairs::",
            "guard_stalls::",
            "guard_views::",
            "lint_formats::",
            "pairs::",
            "published::",
            "servers::",
            "survive/",
            "telemetry_peers::",
            "views/",
        ],
    },
    // Envoy.
    Group {
        runs: None,
        installs: "pip",
        place: "python/tools/installed-requirements.txt",
        tests: &[
            "bypass_",
            "differential::",
            "ext_proc::",
            "fleet_faults::",
            "guard_conformance::",
        ],
    },
    // The official test suite.
    Group {
        runs: None,
        installs: "pip",
        place: "suite/PIN",
        tests: &["bowtie::", "bundle/", "bundle_suite::", "dialect/", "project/", "suite"],
    },
];

/// What the system lacks, or could not download, each with the tests that cannot run for that.
fn missing() -> Vec<Missing> {
    let lacking = |group: &Group| {
        if let Some(program) = group.runs.filter(|program| !is_there(program)) {
            return Some(program);
        }
        let is_installed = workspace::testkit().join(group.place).exists();
        let why = if is_there(group.installs) { "downloads" } else { group.installs };
        (!is_installed).then_some(why)
    };
    let missing = |group: &Group| Some(Missing { name: lacking(group)?, tests: group.tests });
    GROUPS.iter().filter_map(missing).collect()
}

/// Says in one line what is missing, and which tests cannot run for that. Fails where CI is set, because there every
/// test has to run. Returns how the names of these tests begin.
pub(crate) fn tell_missing() -> anyhow::Result<Vec<&'static str>> {
    let missing = missing();
    let names: BTreeSet<_> = missing.iter().map(|missing| missing.name).collect();
    let tests: BTreeSet<_> = missing.iter().flat_map(|missing| missing.tests).copied().collect();
    let tests = Vec::from_iter(tests);
    if !names.is_empty() {
        let names = Vec::from_iter(names).join(", ");
        let line = format!("missing: {names}; tests that cannot run: {}", tests.join(" "));
        if std::env::var_os("CI").is_some() {
            bail!("{line}; where CI is set, all have to");
        }
        eprintln!("{line}");
    }
    Ok(tests)
}

/// Whether the system has `program`.
fn is_there(program: &str) -> bool {
    match program {
        "pip" => command::answers("python3", &["-m", "pip", "--version"]),
        program => command::answers(program, &["--version"]),
    }
}

/// Downloads what the tests need and `target/testkit` does not have, as far as there are programs to do so. Fails with
/// one line where a download does.
pub(crate) fn run() -> anyhow::Result<()> {
    let (has_pip, has_npm) = (is_there("pip"), is_there("npm"));
    let installed = thread::scope(|scope| {
        // Most of the time is spent waiting for answers and for the disk.
        let large = scope.spawn(move || if has_pip { python::install("mcp2") } else { Ok(()) });
        let mut done = Vec::new();
        if has_pip {
            done.push(suite::fetch());
            done.extend(["mcp1", "fastmcp3", "tools"].map(python::install));
        }
        if has_npm {
            done.push(node::install());
        }
        done.push(large.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done
    });
    let failed = installed.into_iter().filter_map(Result::err).map(|error| format!("{error:#}"));
    let failed: Vec<_> = failed.collect();
    if !failed.is_empty() {
        bail!("{}; is there a network?", failed.join("; "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, workspace};

    #[test]
    fn the_tests_of_a_group_are_there() {
        let files = workspace::files(&workspace::root().join("crates")).unwrap_or_default();
        let paths: Vec<_> =
            files.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect();
        for name in GROUPS.iter().flat_map(|group| group.tests) {
            let stem = name.split(['/', ':']).next().unwrap_or(name);
            let is_there = |path: &String| path.contains(&format!("/tests/it/{stem}"));
            assert!(paths.iter().any(is_there), "{name}");
        }
    }
}
