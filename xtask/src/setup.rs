//! Downloads what the tests need, and says which of them cannot run without it.

use std::panic::resume_unwind;
use std::thread;

use anyhow::bail;

use crate::{command, node, python, suite, workspace};

/// What one install gives to the tests.
struct Group {
    name: &'static str,
    /// Programs of the system that installing and running it takes.
    programs: &'static [&'static str],
    /// Below `target/testkit`; there once it is installed.
    place: &'static str,
    /// A package, and how the names begin of its tests that need the group.
    tests: &'static [(&'static str, &'static [&'static str])],
}

const PYTHON: &[&str] = &["python3", "pip"];

const GROUPS: [Group; 4] = [
    Group {
        name: "Node packages",
        programs: &["node", "npm"],
        place: "peers/installed-lock.json",
        tests: &[
            (
                "toolbond-cli",
                &[
                    "bypass_",
                    "clients::",
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
                    "published::",
                ],
            ),
            ("toolbond-contract", &["bundle/peers", "project/ajv", "project/random"]),
            ("toolbond", &["conformance::", "servers::"]),
            ("toolbond-targets", &["agreement/", "survive/", "views/"]),
        ],
    },
    Group {
        name: "Python packages",
        programs: PYTHON,
        place: "python/mcp2/installed-requirements.txt",
        tests: &[
            (
                "toolbond-cli",
                &[
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
                    "telemetry_peers::",
                ],
            ),
            ("toolbond-contract", &["bundle/peers"]),
            ("toolbond", &["servers::"]),
            ("toolbond-targets", &["agreement/", "survive/", "views/"]),
        ],
    },
    Group {
        name: "Envoy",
        programs: PYTHON,
        place: "python/tools/installed-requirements.txt",
        tests: &[(
            "toolbond-cli",
            &["bypass_", "differential::", "ext_proc::", "fleet_faults::", "guard_conformance::"],
        )],
    },
    Group {
        name: "JSON Schema Test Suite",
        programs: PYTHON,
        place: "suite/PIN",
        tests: &[
            ("toolbond-cli", &["bowtie::", "bundle_suite::"]),
            ("toolbond-contract", &["bundle/", "dialect/", "project/"]),
            ("toolbond-schema", &[""]),
        ],
    },
];

/// What the system lacks, and the tests that cannot run for that.
pub(crate) struct Missing {
    /// A program, or a group that is not installed.
    pub(crate) program: &'static str,
    /// Packages, and how the names of their tests begin.
    pub(crate) tests: Vec<(&'static str, &'static str)>,
}

/// What is missing now, each program and group once.
pub(crate) fn missing() -> Vec<Missing> {
    let mut all: Vec<Missing> = Vec::new();
    for group in &GROUPS {
        let mut lacking: Vec<_> =
            group.programs.iter().copied().filter(|program| !is_there(program)).collect();
        if lacking.is_empty() && !workspace::testkit().join(group.place).exists() {
            lacking.push(group.name);
        }
        let tests = group.tests.iter();
        let tests = tests.flat_map(|(package, names)| names.iter().map(|name| (*package, *name)));
        for program in lacking {
            match all.iter_mut().find(|missing| missing.program == program) {
                Some(missing) => missing.tests.extend(tests.clone()),
                None => all.push(Missing { program, tests: tests.clone().collect() }),
            }
        }
    }
    all
}

/// Whether the system has `program`.
fn is_there(program: &str) -> bool {
    match program {
        "pip" => python::has_pip(),
        program => command::answers(program, &["--version"]),
    }
}

/// Fails with one line if the system lacks programs that the tests run.
pub(crate) fn require() -> anyhow::Result<()> {
    let programs = ["python3", "pip", "node", "npm"];
    let missing: Vec<_> = programs.into_iter().filter(|program| !is_there(program)).collect();
    if !missing.is_empty() {
        bail!("missing: {}; the tests need python3 with pip and node with npm", missing.join(", "));
    }
    Ok(())
}

/// Downloads what the tests need and `target/testkit` does not have. Installs all that it can; then fails with one
/// line that says what is missing, and which tests cannot run.
pub(crate) fn run() -> anyhow::Result<()> {
    let (has_python, has_node) = (python::has_pip(), is_there("npm"));
    let installed = thread::scope(|scope| {
        // Most of the time is spent waiting for answers and for the disk.
        let python = scope.spawn(move || if has_python { python::install("mcp2") } else { Ok(()) });
        let mut done = Vec::new();
        if has_python {
            done.push(suite::fetch());
            done.extend(["mcp1", "fastmcp3", "tools"].map(python::install));
        }
        if has_node {
            done.push(node::install());
        }
        done.push(python.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done
    });
    let failed = installed.into_iter().filter_map(Result::err).map(|error| format!("{error:#}"));
    let failed: Vec<_> = failed.collect();
    let missing = missing();
    if failed.is_empty() && missing.is_empty() {
        return Ok(());
    }
    let lacks: Vec<_> = missing.iter().map(|missing| missing.program).collect();
    let mut tests: Vec<_> = missing.iter().flat_map(|missing| &missing.tests).collect();
    tests.sort();
    tests.dedup();
    let tests = tests.iter().map(|(package, name)| format!("{package} {name}"));
    let tests: Vec<_> = tests.map(|name| name.trim_end().to_owned()).collect();
    let why = if failed.is_empty() { String::new() } else { format!(" ({})", failed.join("; ")) };
    bail!("missing: {}{why}; cannot run: {}", lacks.join(", "), tests.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, workspace};

    #[test]
    fn the_tests_of_a_group_are_there() {
        let tests = GROUPS.iter().flat_map(|group| group.tests);
        for (package, names) in tests.filter(|(package, _)| *package != "toolbond") {
            let name = package.strip_prefix("toolbond-").unwrap_or(package);
            let folder = workspace::root().join("crates").join(name).join("tests/it");
            let files = workspace::files(&folder).unwrap_or_default();
            let paths: Vec<_> =
                files.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect();
            for name in *names {
                let stem = name.trim_end_matches([':', '/']);
                let is_there = |path: &String| path.contains(&format!("/it/{stem}"));
                assert!(paths.iter().any(is_there), "{package} {name}");
            }
        }
    }
}
