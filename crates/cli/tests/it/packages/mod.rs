//! The packages, as somebody installs them who has no Rust toolchain and has never seen Toolbond.
//!
//! `cargo xtask dist --check` runs all of these tests with the packages that it has built. Without it, those of npm run
//! with the program of this build, and the others are left out.

mod action;
mod archive;
mod fresh;
mod npm;
mod pre_commit;
mod registry;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::files::{Folder, root};
use toolbond_harness::{process, skip};

use crate::clients::Client;
use crate::command::texts;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The folder of the packages that `cargo xtask dist --check` has built.
fn built() -> Option<PathBuf> {
    let folder = std::env::var_os("TOOLBOND_PACKAGES").map(PathBuf::from);
    if folder.is_none() {
        skip("`cargo xtask dist --check` builds the packages and runs this");
    }
    folder
}

/// The npm packages: those that were built, or those of the program of this build in `folder`.
fn npm_packages(folder: &Folder) -> PathBuf {
    if let Some(built) = std::env::var_os("TOOLBOND_PACKAGES") {
        return built.into();
    }
    let (out, program) = (folder.path().join("packages"), folder.join("toolbond"));
    // Most of a test build is debug information, which takes long to pack.
    let strip = Command::new("strip").arg("-o").arg(&program).arg(process::program()).status();
    let stripped = strip.is_ok_and(|status| status.success());
    let program = if stripped { program.into() } else { process::program() };
    let mut dist = Command::new(env!("CARGO"));
    dist.args(["run", "--quiet", "--package", "xtask", "--", "dist", "--program"]);
    dist.arg(program).arg("--out").arg(&out).current_dir(root());
    let (code, _, said) = texts(dist.output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    out
}

/// The file of `folder` whose name ends so.
fn file(folder: &Path, end: &str) -> PathBuf {
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut found = files.filter(|path| path.to_str().unwrap().ends_with(end));
    let only = found.next().unwrap_or_else(|| panic!("no {end} in {}", folder.display()));
    assert_eq!(found.next(), None, "two {end}");
    only
}

/// What the demo prints in the build that runs the tests.
fn demo() -> String {
    let (code, printed, _) = texts(process::toolbond(&["demo"]).output().unwrap());
    assert_eq!(code, Some(0));
    printed
}

/// Clients of both SDKs and both eras get through the guard of a package what they get from the server itself.
fn clients_talk_through(toolbond: &str) {
    let server = [toolbond, "demo", "--stdio"];
    let guard = [toolbond, "guard", "--results-file", "none", "--"];
    let guarded = [&guard, &server[..]].concat();
    let calls = json!([["get-weather-forecast", { "city": "Oslo", "hours": 3 }]]);
    for (program, mode) in [
        ("typescript.mjs", "v1"),
        ("typescript.mjs", "modern"),
        ("python_v1.py", "legacy"),
        ("python_v2.py", "auto"),
    ] {
        let client = Client { name: program, program, mode, is_natural: mode != "legacy" };
        let reports: Vec<Value> = client.visit(&json!([[server, calls], [guarded, calls]]));
        let [direct, through] = &reports[..] else { panic!("{program}: {reports:?}") };
        assert!(direct["calls"][0].get("value").is_some(), "{program} {mode}: {direct}");
        assert_eq!(direct, through, "{program} {mode}");
    }
}
