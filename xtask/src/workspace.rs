//! Places in the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Folders that are not part of the repository.
const SKIPPED: [&str; 6] = ["target", "node_modules", ".git", "__pycache__", "corpus", "artifacts"];

/// The crates of the guard, whose functions and structs are measured as far as they exist.
pub(crate) const GUARD_CRATES: [&str; 3] = ["crates/gateway", "crates/guard", "crates/guard-core"];

/// The folders of the crates that are published.
pub(crate) fn published_crates() -> anyhow::Result<Vec<String>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(root().join("crates")).context("crates")? {
        let entry = entry?;
        let manifest = entry.path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
        if !text.lines().any(|line| line == "publish = false") {
            crates.push(format!("crates/{}", entry.file_name().to_string_lossy()));
        }
    }
    crates.sort_unstable();
    Ok(crates)
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What the tests need and the repository does not hold. `toolbond-harness` looks here.
pub(crate) fn testkit() -> PathBuf {
    root().join("target").join("testkit")
}

/// The files below `folder`, without what builds, installations and fuzzing leave there.
pub(crate) fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !path.is_dir() {
            files.push(path);
        } else if !SKIPPED.contains(&name) {
            files.extend(self::files(&path)?);
        }
    }
    Ok(files)
}
