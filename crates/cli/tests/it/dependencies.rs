//! `toolpact-schema` and `toolpact-contract` cannot open a connection or a file: neither they nor what they depend on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that open connections, or run what does.
const CONNECTING: [&str; 26] = [
    "async-io",
    "async-net",
    "async-std",
    "attohttpc",
    "aws-lc-rs",
    "curl",
    "h2",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "mio",
    "minreq",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "ring",
    "rustls",
    "smol",
    "socket2",
    "surf",
    "tokio",
    "tokio-rustls",
    "tungstenite",
    "ureq",
];

/// What code has to name to open a connection, a file or a process.
const NAMES: [&str; 11] = [
    "std::net",
    "std::fs",
    "std::process",
    "File::",
    "TcpStream",
    "UdpSocket",
    "UnixStream",
    "tokio",
    "hyper",
    "extern \"C\"",
    "libc",
];

fn repository() -> PathBuf {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// What `cargo` prints. It downloads nothing.
fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(arguments).args(["--offline", "--locked"]);
    let output = output.current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The system that this is built for.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// The names and the features of what `package` depends on, on this system, without its tests.
fn dependencies(package: &str) -> Vec<(String, Vec<String>)> {
    let edges = ["tree", "-p", package, "--edges", "normal,build", "--no-dedupe"];
    let text = cargo(&[&edges[..], &["--prefix", "none", "--format", "{p}|{f}"]].concat());
    let lines = text.lines().filter_map(|line| line.split_once('|'));
    lines
        .map(|(package, features)| {
            let name = package.split(' ').next().unwrap().to_owned();
            (name, features.split(',').map(str::to_owned).collect())
        })
        .collect()
}

/// The crates below `package` that open connections.
fn connecting(package: &str) -> Vec<&'static str> {
    let dependencies = dependencies(package);
    assert!(dependencies.iter().any(|(name, _)| name == "serde_json"), "{dependencies:?}");
    let is_below = |name: &&str| dependencies.iter().any(|(other, _)| other == name);
    CONNECTING.into_iter().filter(is_below).collect()
}

/// The places in the sources of a crate that name what opens something. Comments are not code.
fn opening(krate: &str) -> Vec<String> {
    fn search(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for (index, line) in text.lines().enumerate() {
                let code = line.trim_start();
                if !code.starts_with("//") && NAMES.iter().any(|name| code.contains(name)) {
                    found.push(format!("{}:{}: {code}", path.display(), index + 1));
                }
            }
        }
    }
    let mut found = Vec::new();
    search(&repository().join("crates").join(krate).join("src"), &mut found);
    found
}

#[test]
fn the_validator_and_the_contract_cannot_open_a_connection() {
    assert_eq!(connecting("toolpact-schema"), [""; 0]);
    assert_eq!(connecting("toolpact-contract"), [""; 0]);
    // The same inspection finds them where they are.
    let fetch = connecting("toolpact-fetch");
    for name in ["hyper", "mio", "rustls", "socket2", "tokio"] {
        assert!(fetch.contains(&name), "{fetch:?}");
    }
}

#[test]
fn the_validator_and_the_contract_name_nothing_that_opens_a_connection_or_a_file() {
    assert_eq!(opening("schema"), [""; 0]);
    assert_eq!(opening("contract"), [""; 0]);
    let fetch = opening("fetch").join("\n");
    for name in ["std::net", "File::", "TcpStream", "hyper"] {
        assert!(fetch.contains(name), "{fetch}");
    }
}

#[test]
fn the_engine_resolves_no_references_itself() {
    let manifest = cargo(&["metadata", "--format-version", "1", "--filter-platform", &host()]);
    let metadata: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let engine = packages.iter().find(|package| package["name"] == "jsonschema").unwrap();
    for package in ["toolpact-schema", "toolpact-contract", "toolpact-cli"] {
        let dependencies = dependencies(package);
        let (_, features) = dependencies.iter().find(|(name, _)| name == "jsonschema").unwrap();
        for feature in ["resolve-http", "resolve-file"] {
            assert!(engine["features"].get(feature).is_some(), "the engine has no `{feature}`");
            assert!(!features.iter().any(|it| it == feature), "{package}: {features:?}");
        }
    }
}
