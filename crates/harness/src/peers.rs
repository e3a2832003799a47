//! Packages of other languages, which `cargo xtask setup` installs, and the programs that run on them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::root;

/// A folder below `target/testkit`.
pub fn installed(name: &str) -> PathBuf {
    let place = root().join("target/testkit").join(name);
    assert!(place.is_dir(), "{name} is not installed: run `cargo xtask setup`");
    place.canonicalize().unwrap()
}

/// Puts a program into `folder`, because Node finds packages beside the program that wants them, and returns its path
/// there. Tests run at the same time: each puts it there in one step.
pub fn put(program: &Path, folder: &Path) -> PathBuf {
    let place = folder.join(program.file_name().unwrap());
    let part = place.with_extension(std::process::id().to_string());
    fs::copy(program, &part).unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    fs::rename(&part, &place).unwrap();
    place
}
