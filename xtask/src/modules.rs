//! The modules of each published crate import each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, bail};

use crate::known::{TABLE, known};
use crate::workspace;

/// Which file or folder imports which, among those of one folder.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Source files by the path of their module, which is empty for `lib.rs` and `main.rs`.
type Sources = BTreeMap<Vec<String>, String>;

/// The name of a folder's own file: `mod.rs`, or that of the crate.
const OWN: &str = "mod";

/// Files of one folder that import each other, directly or through others.
pub(crate) struct Knot {
    /// The folder and the files, as in the table.
    name: String,
    /// A line for each file: what it imports of the others.
    imports: Vec<String>,
}

impl Knot {
    /// The knot and the imports that make it, a line each.
    pub(crate) fn describe(&self) -> String {
        format!("{}\n    {}", self.name, self.imports.join("\n    "))
    }
}

/// Fails with each knot that is not in the table, and with each line of the table that is no longer true.
pub(crate) fn check() -> anyhow::Result<()> {
    let wrong = compare(&knots()?, &known("knot")?);
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

/// The knots in the published crates.
pub(crate) fn knots() -> anyhow::Result<Vec<Knot>> {
    let mut knots = Vec::new();
    for name in workspace::published_crates()? {
        let sources = read(&name)?;
        for folder in sources.keys() {
            let place = [&[name.clone(), "src".to_owned()], &folder[..]].concat().join("/");
            let imports = imports_in(&sources, folder);
            knots.extend(cycles(&imports).iter().map(|files| knot(&place, files, &imports)));
        }
    }
    Ok(knots)
}

/// The source files of a crate, without tests and lines of comments.
fn read(name: &str) -> anyhow::Result<Sources> {
    let folder = workspace::root().join(name).join("src");
    let mut sources = Sources::new();
    for path in workspace::files(&folder)? {
        let module = path.strip_prefix(&folder).unwrap_or(&path).with_extension("");
        let mut module: Vec<_> =
            module.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let own = module.last().map(String::as_str).unwrap_or_default();
        if own == "tests" || own.ends_with("_tests") || path.extension() != Some("rs".as_ref()) {
            continue;
        }
        if [OWN, "lib", "main"].contains(&own) {
            module.pop();
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        sources.insert(module, code(&text));
    }
    Ok(sources)
}

/// What is left of a file without its tests and lines of comments.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What the files and folders in `folder` import of each other. A name that the folder's own file has from another one
/// is an import of that other one.
fn imports_in(sources: &Sources, folder: &[String]) -> Imports {
    let own = absolute_paths(sources, folder);
    let passed_on: BTreeMap<&String, &String> = own
        .iter()
        .filter_map(|path| path.strip_prefix(folder)?.split_first())
        .filter(|(file, _)| is_module(sources, folder, file))
        .filter_map(|(file, path)| Some((path.last()?, file)))
        .collect();
    let defined: BTreeSet<_> = sources[folder].lines().filter_map(defined_name).collect();
    let mut imports = Imports::new();
    for module in sources.keys() {
        let Some(below) = module.strip_prefix(folder) else { continue };
        let from = below.first().map_or(OWN, String::as_str);
        for path in absolute_paths(sources, module) {
            let Some([name, ..]) = path.strip_prefix(folder) else { continue };
            let to = match passed_on.get(name) {
                _ if is_module(sources, folder, name) => name,
                _ if defined.contains(name.as_str()) => OWN,
                Some(file) => file,
                None => continue,
            };
            if from != to {
                imports.entry(from.to_owned()).or_default().insert(to.to_owned());
            }
        }
    }
    imports
}

fn is_module(sources: &Sources, parent: &[String], name: &str) -> bool {
    sources.contains_key(&[parent, &[name.to_owned()]].concat())
}

/// The name of the item that `line` defines at the top level of its file.
fn defined_name(line: &str) -> Option<&str> {
    const BEFORE: &str = "pub crate super in";
    const KINDS: &str =
        "async const enum extern fn macro_rules static struct trait type union unsafe";
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words = line.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    let is_in = |list: &str, word: &str| list.split(' ').any(|listed| listed == word);
    let first = words.find(|word| !is_in(BEFORE, word))?;
    words.find(|word| !is_in(KINDS, word)).filter(|_| is_in(KINDS, first))
}

/// The paths in `module` that lead into its own crate, from the root of the crate.
fn absolute_paths(sources: &Sources, module: &[String]) -> BTreeSet<Vec<String>> {
    let absolute = |path: Vec<String>| {
        let ups = path.iter().take_while(|name| *name == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            first => is_module(sources, module, first).then(|| [module, &path].concat()),
        }
    };
    paths(&sources[module]).into_iter().filter_map(absolute).collect()
}

/// The paths in `text` that have at least one `::`, with those of a tree such as `a::{b, c::d}` apart.
fn paths(mut text: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    while let Some(at) = text.find("::") {
        let start = text[..at].trim_end_matches(is_word).len();
        text = if start < at {
            read_tree(&text[start..], &[], &mut paths)
        } else {
            // `::name` starts at another crate, and the end of `<T>::name` is no module.
            text[at + 2..].trim_start_matches(is_word)
        };
    }
    paths
}

/// Adds the path or the tree of paths that `text` starts with to `paths`, each below `parent`; returns what follows.
fn read_tree<'a>(text: &'a str, parent: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = read_tree(rest.trim_start(), parent, paths).trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => return rest,
            }
        }
    }
    let (name, rest) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
    let mut path = parent.to_vec();
    // `{self, …}` and the end of a list name nothing below the parent.
    if !name.is_empty() && (name != "self" || parent.is_empty()) {
        path.push(name.to_owned());
    }
    if let Some(rest) = rest.strip_prefix("::") {
        return read_tree(rest, &path, paths);
    }
    paths.push(path);
    match rest.strip_prefix(" as ") {
        Some(alias) => alias.trim_start_matches(is_word),
        None => rest,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Each set of files that reach each other.
fn cycles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let mut cycles = BTreeSet::new();
    for name in imports.keys() {
        let mut files = reached(imports, name);
        files.retain(|file| reached(imports, file).contains(name.as_str()));
        if !files.is_empty() {
            cycles.insert(files);
        }
    }
    cycles
}

/// What `start` imports, directly or through others.
fn reached<'a>(imports: &'a Imports, start: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(names) = open.pop().map(|name| imports.get(name)) {
        let names = names.into_iter().flatten().map(String::as_str);
        open.extend(names.filter(|name| seen.insert(*name)));
    }
    seen
}

fn knot(place: &str, files: &BTreeSet<&str>, imports: &Imports) -> Knot {
    let joined = |files: Vec<&str>| files.join(" ");
    let lines = files.iter().map(|file| {
        let others = imports[*file].iter().map(String::as_str);
        let others = others.filter(|other| files.contains(other)).collect();
        format!("{file} imports {}", joined(others))
    });
    Knot {
        name: format!("{place}: {}", joined(files.iter().copied().collect())),
        imports: lines.collect(),
    }
}

/// A message for each knot that is not in the table, and for each line of the table without its knot.
fn compare(knots: &[Knot], known: &[String]) -> Vec<String> {
    let new = knots.iter().filter(|knot| !known.contains(&knot.name));
    let gone = known.iter().filter(|name| knots.iter().all(|knot| knot.name != **name));
    let gone = gone.map(|name| format!("not found: remove `knot {name}` from {TABLE}"));
    new.map(|knot| {
        if known.iter().any(|name| is_part(&knot.name, name)) {
            format!("part of a known knot is left: write `knot {}` to {TABLE}", knot.name)
        } else {
            format!("these files import each other: {}", knot.describe())
        }
    })
    .chain(gone)
    .collect()
}

/// Whether all files of the knot `name` are in the knot `known`, as the table names them.
fn is_part(name: &str, known: &str) -> bool {
    let known: Vec<&str> = known.split(' ').collect();
    name.split(' ').all(|word| known.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::{Imports, Knot, Sources, code, compare, cycles, imports_in, knot, paths};

    fn imports(pairs: &[(&str, &str)]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in pairs {
            imports.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        imports
    }

    fn named(name: &str) -> Knot {
        Knot { name: name.to_owned(), imports: vec!["a imports b".to_owned()] }
    }

    #[test]
    fn finds_a_cycle_through_others() {
        assert!(cycles(&imports(&[("a", "b"), ("b", "c"), ("c", "d")])).is_empty());
        let tied = imports(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "a")]);
        let files = cycles(&tied);
        assert_eq!(files.len(), 1);
        let knot = knot("src", files.first().unwrap(), &tied);
        assert_eq!(
            knot.describe(),
            "src: a b c\n    a imports b\n    b imports c\n    c imports a"
        );
    }

    #[test]
    fn reads_paths_outside_of_tests() {
        let text = "use crate::{a::B, c::{self, D as E}};\n// crate::f\nfn g() { ::h::i(j::<super::k::L>()) }\n\
                    #[cfg(test)]\nmod tests {\nuse crate::m;";
        let paths: Vec<_> = paths(&code(text)).iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::a::B", "crate::c", "crate::c::D", "j", "super::k::L"]);
    }

    #[test]
    fn sees_what_a_folder_defines_itself() {
        let files = [
            ("", "mod core;\nmod event;"),
            ("core", "mod call;\nmod job;\nuse self::job::Job;\npub(crate) struct Own<T>(T);\n"),
            ("core/call", "use super::{Job, Own};\nuse crate::event::Event;"),
            ("core/job", "use super::call;"),
            ("event", "fn core() { crate::core::f() }"),
        ];
        let module = |name: &str| name.split_terminator('/').map(str::to_owned).collect();
        let sources: Sources =
            files.iter().map(|(name, text)| (module(name), (*text).to_owned())).collect();
        assert_eq!(
            imports_in(&sources, &["core".to_owned()]),
            imports(&[("call", "job"), ("call", "mod"), ("job", "call"), ("mod", "job")])
        );
        assert_eq!(imports_in(&sources, &[]), imports(&[("core", "event"), ("event", "core")]));
    }

    #[test]
    fn known_knots_may_only_shrink() {
        let known = ["src/a: b c mod".to_owned(), "src/d: e f".to_owned()];
        assert!(compare(&[named("src/a: b c mod"), named("src/d: e f")], &known).is_empty());
        assert_eq!(
            compare(&[named("src/a: b mod"), named("src/d: e f g")], &known),
            [
                "part of a known knot is left: write `knot src/a: b mod` to xtask/known.txt",
                "these files import each other: src/d: e f g\n    a imports b",
                "not found: remove `knot src/a: b c mod` from xtask/known.txt",
                "not found: remove `knot src/d: e f` from xtask/known.txt",
            ]
        );
    }
}
