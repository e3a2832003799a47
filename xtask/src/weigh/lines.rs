//! Lines by folder, and the longest files, functions, parameter lists and structs.

use std::collections::BTreeMap;
use std::fs;

use super::parts::{Function, functions, structs};
use crate::workspace::{self, GUARD_CRATES};

/// The row of what a command writes: lock files, transcripts, tables. It has no ceiling.
pub(super) const GENERATED: &str = "generated";

/// Lines of the repository.
#[derive(Default)]
pub(super) struct Lines {
    /// By folder, with the tests of a crate apart wherever they are.
    pub(super) folders: BTreeMap<String, usize>,
    /// Files of Rust without their tests.
    pub(super) files: Vec<(usize, String)>,
    /// Lines of functions outside tests.
    pub(super) functions: Vec<Part>,
    /// Parameters of functions of the guard, without `self`.
    pub(super) parameters: Vec<Part>,
    /// Fields of structs of the guard that are `bool`.
    pub(super) bools: Vec<Part>,
}

/// The size of a function or struct.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) size: usize,
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) name: String,
}

impl Lines {
    /// Counts the lines of every text file, longest files and functions first.
    pub(super) fn count() -> anyhow::Result<Self> {
        let root = workspace::root();
        let mut lines = Self::default();
        for path in workspace::files(&root)? {
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy();
            let name = name.replace('\\', "/");
            // What is not UTF-8 has no lines.
            if let (Some(folder), Ok(text)) = (folder_of(&name), fs::read_to_string(&path)) {
                lines.add(&name, folder, &text);
            }
        }
        lines.files.sort_by(|one, other| other.cmp(one));
        for parts in [&mut lines.functions, &mut lines.parameters, &mut lines.bools] {
            parts.sort_by(|one, other| other.cmp(one));
        }
        Ok(lines)
    }

    fn add(&mut self, name: &str, folder: String, text: &str) {
        let text_lines: Vec<&str> = text.lines().collect();
        let all = text_lines.len();
        let source = source_lines(name, text);
        if name.rsplit('.').next() == Some("rs") && !folder.ends_with("/tests") && source > 0 {
            self.files.push((source, name.to_owned()));
            self.add_parts(name, &text_lines[..source], GUARD_CRATES.contains(&folder.as_str()));
        }
        let of_crate = folder.starts_with("crates/") && folder != "crates/bench";
        if all > source && of_crate && !folder.ends_with("/tests") {
            *self.folders.entry(format!("{folder}/tests")).or_default() += all - source;
            *self.folders.entry(folder).or_default() += source;
        } else {
            *self.folders.entry(folder).or_default() += all;
        }
    }

    fn add_parts(&mut self, file: &str, lines: &[&str], of_guard: bool) {
        let part = |size, line, name: &str| Part {
            size,
            file: file.to_owned(),
            line: line + 1,
            name: name.to_owned(),
        };
        for Function { name, lines, parameters } in functions(lines) {
            self.functions.push(part(lines.len(), lines.start, name));
            if of_guard {
                self.parameters.push(part(parameters, lines.start, name));
            }
        }
        if of_guard {
            let structs = structs(lines).into_iter();
            self.bools.extend(structs.map(|(name, line, bools)| part(bools, line, name)));
        }
    }
}

/// The row that a file counts in; files of the root other than documents count in none.
fn folder_of(name: &str) -> Option<String> {
    const WRITTEN: [&str; 4] =
        ["Cargo.lock", "converters.md", "package-lock.json", "toolbond.schema.json"];
    let parts: Vec<&str> = name.split('/').collect();
    let (file, extension) = (*parts.last()?, name.rsplit('.').next());
    if WRITTEN.contains(&file) || parts.contains(&"transcripts") {
        return Some(GENERATED.to_owned());
    }
    match parts[..] {
        ["peers", "python", _] => Some(GENERATED.to_owned()),
        ["crates", "bench", ..] => Some("crates/bench".to_owned()),
        ["crates", name, "tests" | "examples" | "proptest-regressions", ..] => {
            Some(format!("crates/{name}/tests"))
        }
        ["crates", name, ..] => Some(format!("crates/{name}")),
        [folder @ ("docs" | "examples" | "fuzz" | "packages" | "peers" | "xtask"), ..] => {
            Some(folder.to_owned())
        }
        [_] if extension == Some("md") => Some("docs".to_owned()),
        _ => None,
    }
}

/// Lines before the tests of a file; none if it is a file of tests.
fn source_lines(name: &str, text: &str) -> usize {
    if name.ends_with("/tests.rs") || name.ends_with("_tests.rs") {
        return 0;
    }
    let source = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    source.lines().count()
}

#[cfg(test)]
mod tests {
    use super::{Lines, Part, folder_of};

    #[test]
    fn files_count_in_their_folder() {
        for (name, folder) in [
            ("crates/cli/src/main.rs", Some("crates/cli")),
            ("crates/cli/Cargo.toml", Some("crates/cli")),
            ("crates/cli/tests/it/main.rs", Some("crates/cli/tests")),
            ("crates/cli/tests/it/transcripts/lint.txt", Some("generated")),
            ("crates/sdk/examples/weather.rs", Some("crates/sdk/tests")),
            ("peers/package-lock.json", Some("generated")),
            ("peers/python/mcp2.txt", Some("generated")),
            ("peers/servers/bare.mjs", Some("peers")),
            ("crates/bench/src/main.rs", Some("crates/bench")),
            ("docs/guard.md", Some("docs")),
            ("README.md", Some("docs")),
            ("LICENSE", None),
        ] {
            assert_eq!(folder_of(name).as_deref(), folder, "{name}");
        }
    }

    #[test]
    fn tests_beside_the_code_count_as_tests() {
        let text = "fn a() {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n";
        let mut lines = Lines::default();
        lines.add("crates/a/src/lib.rs", "crates/a".to_owned(), text);
        lines.add("crates/a/src/b/tests.rs", "crates/a".to_owned(), "fn c() {\n}\n");
        assert_eq!(lines.folders["crates/a"], 4);
        assert_eq!(lines.folders["crates/a/tests"], 5 + 2);
        assert_eq!(lines.files, [(4, "crates/a/src/lib.rs".to_owned())]);
        let file = "crates/a/src/lib.rs".to_owned();
        assert_eq!(lines.functions, [Part { size: 3, file, line: 1, name: "a".to_owned() }]);
        assert!(lines.parameters.is_empty(), "only those of the guard are counted");
    }
}
