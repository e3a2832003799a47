//! `toolbond-schema`, `toolbond-contract` and `toolbond-guard-core` cannot open a connection or a file: neither they nor
//! what they depend on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use toolbond_harness::files::root;

/// The validator, the contract, and the conversation of the guard.
const DECIDING: [&str; 3] = ["schema", "contract", "guard-core"];

/// What code of a dependency has to name to open a connection.
const SOCKETS: [&str; 3] = ["TcpStream", "UdpSocket", "UnixStream"];

/// Crates that do so through a library of C, or through others.
const CLIENTS: [&str; 9] = [
    "curl",
    "curl-sys",
    "hyper",
    "native-tls",
    "openssl-sys",
    "reqwest",
    "rustls",
    "tokio",
    "ureq",
];

/// What our own code has to name to open a connection, a file or a process.
const OPENING: [&str; 9] = [
    "std::net",
    "std::fs",
    "std::process",
    "File::",
    "TcpStream",
    "UdpSocket",
    "UnixStream",
    "tokio",
    "extern \"C\"",
];

/// What `cargo` prints. It downloads nothing.
fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline", "--locked"]).current_dir(root());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What all packages say about themselves, on this system.
static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = cargo(&["metadata", "--format-version", "1", "--filter-platform", host]);
    serde_json::from_str(&metadata).unwrap()
});

/// A package that another one depends on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Dependency {
    name: String,
    version: String,
    features: Vec<String>,
}

impl Dependency {
    fn metadata(&self) -> &'static Value {
        let packages = METADATA["packages"].as_array().unwrap();
        let is_this = |it: &&Value| it["name"] == self.name && it["version"] == self.version;
        packages.iter().find(is_this).unwrap()
    }

    fn sources(&self) -> PathBuf {
        let manifest = Path::new(self.metadata()["manifest_path"].as_str().unwrap());
        manifest.with_file_name("src")
    }
}

/// `package` and what it depends on, without its tests.
fn dependencies(package: &str) -> BTreeSet<Dependency> {
    let text = cargo(&[
        "tree", "-p", package, "--edges", "normal", "--prefix", "none", "--format", "{p}|{f}|",
    ]);
    let mut dependencies = BTreeSet::new();
    for line in text.lines() {
        let [package, features, _] = line.splitn(3, '|').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let mut words = package.split(' ').map(str::to_owned);
        let (name, version) = (words.next().unwrap(), words.next().unwrap()[1..].to_owned());
        let features = features.split(',').map(str::to_owned).collect();
        dependencies.insert(Dependency { name, version, features });
    }
    assert!(dependencies.iter().any(|it| it.name == "serde_json"));
    dependencies
}

/// The crates below `package` that can open a connection.
fn connecting(package: &str) -> BTreeSet<String> {
    let dependencies = dependencies(package).into_iter();
    let can_connect = |it: &Dependency| {
        CLIENTS.contains(&it.name.as_str()) || !search(&it.sources(), &SOCKETS).is_empty()
    };
    dependencies.filter(can_connect).map(|it| it.name).collect()
}

/// The lines of code below `folder` that contain one of `names`. Comments are not code.
fn search(folder: &Path, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    // A few packages have their code elsewhere, and it is generated.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(search(&path, names));
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            if !names.iter().any(|name| text.contains(name)) {
                continue;
            }
            let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
            let hits = code.filter(|line| names.iter().any(|name| line.contains(name)));
            found.extend(hits.map(|line| format!("{}: {line}", path.display())));
        }
    }
    found
}

#[test]
fn what_decides_depends_on_nothing_that_opens_a_connection() {
    for name in DECIDING {
        assert_eq!(connecting(&format!("toolbond-{name}")), BTreeSet::new());
    }
    // The same inspection finds them where they are.
    let fetch = connecting("toolbond-fetch");
    for name in ["hyper", "mio", "rustls", "socket2", "tokio", "toolbond-fetch"] {
        assert!(fetch.contains(name), "{fetch:?}");
    }
}

#[test]
fn what_decides_opens_neither_connections_nor_files() {
    let opening = |name: &str| search(&root().join("crates").join(name).join("src"), &OPENING);
    for name in DECIDING {
        assert_eq!(opening(name), [""; 0]);
    }
    let fetch = opening("fetch").join("\n");
    for name in ["std::net", "std::fs", "File::", "TcpStream", "tokio"] {
        assert!(fetch.contains(name), "{name}: {fetch}");
    }
}

#[test]
fn the_engine_fetches_nothing_itself() {
    for package in ["toolbond-schema", "toolbond-contract", "toolbond-cli"] {
        let dependencies = dependencies(package);
        let engine = dependencies.iter().find(|it| it.name == "jsonschema").unwrap();
        for feature in ["resolve-http", "resolve-file"] {
            let exists = engine.metadata()["features"].get(feature).is_some();
            assert!(exists, "the engine has no feature `{feature}`");
            assert!(!engine.features.iter().any(|it| it == feature), "{:?}", engine.features);
        }
    }
}
