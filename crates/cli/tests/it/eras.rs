//! Clients and servers of the official SDKs, each of one protocol era or both, on every transport, with a guard between
//! them and without: `docs/eras.md` says what comes of each pair. `UPDATE=1` writes that page.
//!
//! The default set tries each client and each server in both directions of translation that it can need, and each with
//! one that shares its era. The other pairs join the same ways of the guard to the same programs; they are ignored
//! until `cargo xtask test --all`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolbond_harness::guard::{in_front_of, listening};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, command};

use crate::eras_table::{Page, Pair, Visit};

/// An SDK.
#[derive(Clone, Copy)]
enum Sdk {
    TypeScriptV1,
    TypeScriptV2,
    PythonV1,
    PythonV2,
    Rmcp,
}

/// A client or a server: an SDK that is set to an era.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    name: &'static str,
    sdk: Sdk,
    era: &'static str,
}

impl Peer {
    const fn new(name: &'static str, sdk: Sdk, era: &'static str) -> Self {
        Self { name, sdk, era }
    }

    /// How the client or server of this peer is started.
    fn words(self, role: &str) -> Vec<String> {
        let mut words = peers::words(&match self.sdk {
            Sdk::TypeScriptV1 => format!("eras/{role}-v1.mjs"),
            Sdk::TypeScriptV2 => format!("eras/{role}-v2.mjs"),
            Sdk::PythonV1 => format!("eras/{role}_v1.py"),
            Sdk::PythonV2 => format!("eras/{role}_v2.py"),
            Sdk::Rmcp => format!("rmcp/era_{role}"),
        });
        words.push(self.era.to_owned());
        words
    }
}

/// The commands of a server without and with a guard.
fn commands(server: Peer) -> (Vec<String>, Vec<String>) {
    let direct = server.words("server");
    let mut guarded = vec![env!("CARGO_BIN_EXE_toolbond").to_owned(), "guard".into()];
    guarded.extend(["--results-file", "none", "--"].map(String::from));
    guarded.extend(direct.clone());
    (direct, guarded)
}

/// What `client` reports of `server` on each transport, directly and through a guard.
fn visit(client: Peer, server: Peer) -> Pair {
    let (direct, guarded) = commands(server);
    let mut on_http = command(&direct);
    on_http.arg("--http");
    let (_on_http, port) = Process::listening(on_http);
    let (_proxy, proxy) = in_front_of(port, &[]);
    let arguments: Vec<_> = ["--"].into_iter().chain(direct.iter().map(String::as_str)).collect();
    let (_process, process_port) = listening(&arguments);
    let url = |port: u16| vec![format!("http://127.0.0.1:{port}/mcp")];
    let to_http = [&guarded[..2], &["--results-file".into(), "none".into(), "--upstream".into()]];
    let to_http = [to_http.concat(), url(port)].concat();
    let visits = json!([
        ["without stdio", direct],
        ["with stdio", guarded],
        ["with stdio to HTTP", to_http],
        ["without HTTP", url(port)],
        ["with HTTP", url(proxy)],
        ["with process behind HTTP", url(process_port)],
    ]);
    report(client, server, &visits)
}

/// What `client` reports of its visits.
fn report(client: Peer, server: Peer, visits: &Value) -> Pair {
    let output = command(&client.words("client")).arg(visits.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} and {}: {said}", client.name, server.name);
    let mut reports: BTreeMap<String, Visit> = BTreeMap::new();
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line).unwrap();
        let report = reports.entry(line["visit"].as_str().unwrap().to_owned()).or_default();
        report.add(line["step"].as_str().unwrap(), line["error"].as_str());
    }
    let mut pair = Pair::default();
    for visit in visits.as_array().unwrap() {
        let name = visit[0].as_str().unwrap();
        let (way, transport) = name.split_once(' ').unwrap();
        pair.set(way, transport, reports.remove(name).unwrap_or_default());
    }
    pair
}

fn check(client: Peer, server: Peer) {
    let found = visit(client, server);
    let (client, server) = (client.name, server.name);
    if std::env::var_os("UPDATE").is_some() {
        return Page::update(client, server, &found);
    }
    let page = Page::read();
    assert_eq!(found.rows(client, server), page.rows(client, server), "docs/eras.md");
    assert_eq!(found.word(), page.word(client, server), "docs/eras.md, {client} and {server}");
}

/// One test for each client and server: first the default set, then the others.
macro_rules! pairs {
    ($($peer:ident: $name:literal, $sdk:ident, $era:literal, with [$($server:ident)*], later [$($later:ident)*];)*) => {
        pub(crate) const NAMES: &[&str] = &[$($name),*];
        mod peer {
            use super::{Peer, Sdk};
            $(pub(super) const fn $peer() -> Peer { Peer::new($name, Sdk::$sdk, $era) })*
        }
        $(mod $peer {
            use super::{check, peer};
            $(#[test]
            fn $server() {
                check(peer::$peer(), peer::$server());
            })*
            $(#[test]
            #[ignore = "long matrix: cargo xtask test --all"]
            fn $later() {
                check(peer::$peer(), peer::$later());
            })*
        })*
    };
}

pairs! {
    typescript_v1: "TypeScript v1", TypeScriptV1, "legacy",
        with [typescript_v1 python_v2_modern],
        later [python_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual python_v2_legacy
            python_v2_dual rmcp_legacy rmcp_modern rmcp_dual];
    python_v1: "Python 1.x", PythonV1, "legacy",
        with [python_v2_dual rmcp_modern],
        later [typescript_v1 python_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual
            python_v2_legacy python_v2_modern rmcp_legacy rmcp_dual];
    typescript_v2_legacy: "TypeScript v2, legacy", TypeScriptV2, "legacy",
        with [typescript_v2_dual rmcp_modern],
        later [typescript_v1 python_v1 typescript_v2_legacy typescript_v2_modern python_v2_legacy
            python_v2_modern python_v2_dual rmcp_legacy rmcp_dual];
    typescript_v2_modern: "TypeScript v2, modern", TypeScriptV2, "modern",
        with [python_v1 rmcp_legacy typescript_v2_modern],
        later [typescript_v1 typescript_v2_legacy typescript_v2_dual python_v2_legacy python_v2_modern
            python_v2_dual rmcp_modern rmcp_dual];
    typescript_v2_dual: "TypeScript v2, dual", TypeScriptV2, "dual",
        with [python_v1 python_v2_modern],
        later [typescript_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual python_v2_legacy
            python_v2_dual rmcp_legacy rmcp_modern rmcp_dual];
    python_v2_legacy: "Python 2.x, legacy", PythonV2, "legacy",
        with [python_v2_legacy typescript_v2_modern],
        later [typescript_v1 python_v1 typescript_v2_legacy typescript_v2_dual python_v2_modern
            python_v2_dual rmcp_legacy rmcp_modern rmcp_dual];
    python_v2_modern: "Python 2.x, modern", PythonV2, "modern",
        with [typescript_v1 typescript_v2_legacy rmcp_dual],
        later [python_v1 typescript_v2_modern typescript_v2_dual python_v2_legacy python_v2_modern
            python_v2_dual rmcp_legacy rmcp_modern];
    python_v2_dual: "Python 2.x, dual", PythonV2, "dual",
        with [typescript_v1 rmcp_modern],
        later [python_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual python_v2_legacy
            python_v2_modern python_v2_dual rmcp_legacy rmcp_dual];
    rmcp_legacy: "rmcp, legacy", Rmcp, "legacy",
        with [python_v1 python_v2_modern],
        later [typescript_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual python_v2_legacy
            python_v2_dual rmcp_legacy rmcp_modern rmcp_dual];
    rmcp_modern: "rmcp, modern", Rmcp, "modern",
        with [python_v2_legacy typescript_v1 rmcp_modern],
        later [python_v1 typescript_v2_legacy typescript_v2_modern typescript_v2_dual python_v2_modern
            python_v2_dual rmcp_legacy rmcp_dual];
    rmcp_dual: "rmcp, dual", Rmcp, "dual",
        with [typescript_v2_legacy rmcp_legacy],
        later [typescript_v1 python_v1 typescript_v2_modern typescript_v2_dual python_v2_legacy
            python_v2_modern python_v2_dual rmcp_modern rmcp_dual];
}
