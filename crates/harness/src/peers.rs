//! The programs of `peers/`, each with the packages that `cargo xtask setup` installs for it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::files::root;
use crate::{missing, process};

/// A file or folder of `peers/`.
pub fn path(name: &str) -> PathBuf {
    root().canonicalize().unwrap().join("peers").join(name)
}

/// A folder below `target/testkit` with the packages of `peers/package.json`, of a folder of
/// `peers/hosts/packages`, or of a list of `peers/python`.
pub fn installed(name: &str) -> PathBuf {
    let place = root().join("target/testkit").join(name);
    let done = if name.ends_with("/node_modules") {
        place.with_file_name("installed-lock.json")
    } else {
        place.join("installed-requirements.txt")
    };
    if !done.exists() {
        missing(name);
    }
    place.canonicalize().unwrap()
}

/// A program that is found by its name.
fn found(name: &'static str) -> String {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&folders).any(|folder| folder.join(&file).is_file()) {
        missing(name);
    }
    name.to_owned()
}

/// The command that runs Node.
pub fn node() -> String {
    found("node")
}

/// The words that start a program of `peers/`, such as `servers/bare.mjs`, `clients/python_v1.py` or `rmcp/era_server`.
/// Programs `*_v1.py` run on version 1 of the Python SDK, others on version 2.
pub fn words(program: &str) -> Vec<String> {
    let text = |path: PathBuf| path.into_os_string().into_string().unwrap();
    let file = path(program);
    match file.extension().and_then(OsStr::to_str) {
        Some("mjs") => {
            node_modules();
            vec![node(), text(file)]
        }
        Some("py") => {
            let line = if program.ends_with("_v1.py") { "mcp1" } else { "mcp2" };
            let packages = python_path(line).into_string().unwrap();
            let settings = [format!("PYTHONPATH={packages}"), "PYTHONDONTWRITEBYTECODE=1".into()];
            let [packages, no_cache] = settings;
            vec!["env".to_owned(), packages, no_cache, found("python3"), text(file)]
        }
        _ => {
            let name = program.strip_prefix("rmcp/").unwrap_or_else(|| panic!("{program}"));
            vec![text(process::example("toolbond-peers", name))]
        }
    }
}

/// A program of `peers/`, ready to start.
pub fn command(program: &str) -> Command {
    process::command(&words(program))
}

/// A file of a Node package, such as `time-mcp/dist/index.js`.
pub fn package(file: &str) -> String {
    let place = node_modules().join(file);
    assert!(place.exists(), "{file} is in no package of peers/package.json");
    place.into_os_string().into_string().unwrap()
}

/// The folder of the Node packages, which Node runs. It looks for packages above the program that wants them, so that a
/// link there leads to them.
pub fn node_modules() -> PathBuf {
    node();
    let (place, link) = (installed("peers/node_modules"), path("node_modules"));
    if !link.exists() {
        // Tests run at the same time: another may have made it.
        let _ = make_link(&place, &link);
        assert!(link.exists(), "no link from {} to {}", link.display(), place.display());
    }
    place
}

#[cfg(unix)]
use std::os::unix::fs::symlink as make_link;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as make_link;

/// `PYTHONPATH` for a list of `peers/python`. Lists hold what differs from the one that they build on.
pub fn python_path(line: &str) -> OsString {
    let lines: &[&str] = match line {
        "fastmcp3" => &["fastmcp3", "mcp1", "mcp2"],
        "mcp1" => &["mcp1", "mcp2"],
        line => &[line],
    };
    let lines = lines.iter().map(|line| installed(&format!("python/{line}")));
    // Where `serve.py` is.
    std::env::join_paths(lines.chain([path("servers")])).unwrap()
}

/// Envoy.
pub fn envoy() -> PathBuf {
    installed("python/tools").join("envoy/_bin/envoy")
}
