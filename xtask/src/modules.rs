//! The modules of the guard import each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::workspace;

type Imports = BTreeMap<String, BTreeSet<String>>;

/// Fails where two modules of `crates/guard`, or two files of one of its folders, import each other,
/// directly or through others.
pub(crate) fn check() -> anyhow::Result<()> {
    let source = workspace::root().join("crates/guard/src");
    let mut modules = Imports::new();
    for path in entries(&source)? {
        let Some(module) = name(&path).filter(|name| name != "lib") else { continue };
        let mut files = Imports::new();
        for file in files_below(&path)? {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            modules.entry(module.clone()).or_default().extend(imported(&text, "crate::"));
            if let Some(own) = name(&file).filter(|own| *own != "mod" && path.is_dir()) {
                files.entry(own).or_default().extend(imported(&text, "super::"));
            }
        }
        let names: BTreeSet<_> = files.keys().cloned().collect();
        for imports in files.values_mut() {
            imports.retain(|name| names.contains(name));
        }
        refuse_cycles(&files, &format!("crates/guard/src/{module}"))?;
    }
    refuse_cycles(&modules, "crates/guard/src")
}

fn entries(folder: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn files_below(path: &Path) -> anyhow::Result<Vec<std::path::PathBuf>> {
    if path.is_dir() { entries(path) } else { Ok(vec![path.to_owned()]) }
}

fn name(path: &Path) -> Option<String> {
    path.file_stem().map(|name| name.to_string_lossy().into_owned())
}

/// The modules that `text`, without its tests, names after `prefix`.
fn imported(text: &str, prefix: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split(prefix).skip(1));
    let word = |path: &str| path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    paths.map(word).filter(|name: &String| name.starts_with(char::is_lowercase)).collect()
}

/// Fails with the first cycle among `imports`.
fn refuse_cycles(imports: &Imports, place: &str) -> anyhow::Result<()> {
    for start in imports.keys() {
        let mut open: Vec<_> = imports[start].iter().filter(|name| *name != start).collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if name == start {
                let through = seen.iter().map(|name: &&String| name.as_str());
                let through = through.collect::<Vec<_>>().join(", ");
                bail!("{place}: module `{start}` imports itself through some of {through}");
            }
            if seen.insert(name) {
                open.extend(imports.get(name).into_iter().flatten().filter(|next| *next != name));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Imports, imported, refuse_cycles};

    fn imports(pairs: &[(&str, &str)]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in pairs {
            imports.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        imports
    }

    #[test]
    fn finds_a_cycle_through_others() {
        assert!(refuse_cycles(&imports(&[("a", "b"), ("b", "c"), ("c", "d")]), "").is_ok());
        assert!(refuse_cycles(&imports(&[("a", "b"), ("b", "c"), ("c", "a")]), "").is_err());
        assert!(refuse_cycles(&imports(&[("a", "a")]), "").is_ok());
    }

    #[test]
    fn reads_imports_outside_of_tests() {
        let text = "use crate::a::B;\n// crate::c\nfn f() { crate::d::g() }\n#[cfg(test)]\nmod tests {\nuse crate::e;";
        let names: Vec<_> = imported(text, "crate::").into_iter().collect();
        assert_eq!(names, ["a", "d"]);
    }
}
