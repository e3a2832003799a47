//! Lines by folder, and the longest files and functions.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use crate::workspace;

/// The row of what a command writes: lock files, transcripts, tables. It has no ceiling.
pub(super) const GENERATED: &str = "generated";

/// Lines of the repository.
#[derive(Default)]
pub(super) struct Lines {
    /// By folder, with the tests of a crate apart wherever they are.
    pub(super) folders: BTreeMap<String, usize>,
    /// Files of Rust without their tests.
    pub(super) files: Vec<(usize, String)>,
    /// Functions outside tests, as `path:line name`.
    pub(super) functions: Vec<(usize, String)>,
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
        lines.functions.sort_by(|one, other| other.cmp(one));
        Ok(lines)
    }

    fn add(&mut self, name: &str, folder: String, text: &str) {
        let all = text.lines().count();
        let source = source_lines(name, text);
        if name.rsplit('.').next() == Some("rs") && !folder.ends_with("/tests") && source > 0 {
            self.files.push((source, name.to_owned()));
            let functions = functions(text).into_iter().filter(|(_, lines)| lines.end <= source);
            self.functions.extend(functions.map(|(function, lines)| {
                (lines.len(), format!("{name}:{} {function}", lines.start + 1))
            }));
        }
        let of_crate = folder.starts_with("crates/") && folder != "crates/bench";
        if all > source && of_crate && !folder.ends_with("/tests") {
            *self.folders.entry(format!("{folder}/tests")).or_default() += all - source;
            *self.folders.entry(folder).or_default() += source;
        } else {
            *self.folders.entry(folder).or_default() += all;
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
        [folder @ ("docs" | "examples" | "fuzz" | "peers" | "xtask"), ..] => {
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

/// Functions and their lines. Reads indentation only: in code that rustfmt has written, a function ends at the
/// first line that starts with `}` below the `fn`.
fn functions(text: &str) -> Vec<(&str, Range<usize>)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end =
            |line: &&str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('}'));
        if line.ends_with([';', '}']) {
            functions.push((name, start..start + 1));
        } else if let Some(length) = lines[start..].iter().position(is_end) {
            functions.push((name, start..start + length + 1));
        }
    }
    functions
}

/// The name of the function that starts in `line`.
fn function_name(line: &str) -> Option<&str> {
    let mut words = line.trim_start().split(' ');
    let before = |word: &&str| {
        word.starts_with("pub") || matches!(*word, "const" | "async" | "unsafe" | "in" | "extern")
    };
    let first = words.by_ref().find(|word| !before(word))?;
    let name = words.next().filter(|_| first == "fn")?;
    name.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::{Lines, folder_of, functions};

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
        assert_eq!(lines.functions, [(3, "crates/a/src/lib.rs:1 a".to_owned())]);
    }

    #[test]
    fn functions_end_at_their_own_brace() {
        let text = "\
pub(crate) async fn one<T>(
    a: T,
) -> T {
    if a { b }
    else {
    }
}
impl A {
    const fn two() -> u8 { 2 }
    fn three(&self) {
        {
        }
    }
}
trait B {
    fn four(&self);
}
// fn five() {
";
        let found: Vec<_> =
            functions(text).into_iter().map(|(name, lines)| (name, lines.len())).collect();
        assert_eq!(found, [("one", 7), ("two", 1), ("three", 4), ("four", 1)]);
    }
}
