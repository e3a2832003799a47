//! Clients and servers of the official SDKs, each of one protocol era or both, with a guard between them and without:
//! `data/eras.json` says what comes of each pair. Pairs that share an era are tried on standard input and output, all
//! others on every transport. With `TOOLBOND_ERAS=all` the tests try every pair on every transport; with
//! `TOOLBOND_ERAS=write` they do so and write the table, and `docs/eras.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use toolbond_harness::peers;
use toolbond_harness::process::command;

use crate::command::toolbond;
use crate::eras_table::{Pair, Table, Visit};
use crate::guard_http::{Process, guard, port_of};

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

/// What `client` reports of `server` on standard input and output, directly and through a guard.
fn visit_stdio(client: Peer, server: Peer) -> Pair {
    let (direct, guarded) = commands(server);
    report(client, server, &json!([["without stdio", direct], ["with stdio", guarded]]))
}

/// The commands of a server without and with a guard.
fn commands(server: Peer) -> (Vec<String>, Vec<String>) {
    let direct = server.words("server");
    let mut guarded = vec![env!("CARGO_BIN_EXE_toolbond").to_owned(), "guard".into(), "--".into()];
    guarded.extend(direct.clone());
    (direct, guarded)
}

/// What `client` reports of `server` on each transport, directly and through a guard.
fn visit(client: Peer, server: Peer) -> Pair {
    let (direct, guarded) = commands(server);
    let mut on_http = command(&direct);
    on_http.arg("--http").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut on_http = Process(on_http.spawn().unwrap());
    let port = port_of(&mut on_http);
    let (_proxy, proxy) = guard(port, &[]);
    let mut process = toolbond(&["guard", "--listen", "127.0.0.1:0", "--"]);
    process.args(&direct).stderr(Stdio::piped());
    let mut process = Process(process.spawn().unwrap());
    let process_port = port_of(&mut process);
    let url = |port: u16| vec![format!("http://127.0.0.1:{port}/mcp")];
    let visits = json!([
        ["without stdio", direct],
        ["with stdio", guarded],
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
    let mode = std::env::var("TOOLBOND_ERAS").unwrap_or_default();
    let shares_an_era = client.era == server.era || client.era == "dual" || server.era == "dual";
    let expected = Table::read(&data()).get(client.name, server.name);
    let (found, expected) = match mode.as_str() {
        "write" => {
            let found = visit(client, server);
            return Table::update(&data(), &page(), |table| {
                table.set(client.name, server.name, found);
            });
        }
        "all" => (visit(client, server), expected),
        _ if shares_an_era => (visit_stdio(client, server), expected.on("stdio")),
        _ => (visit(client, server), expected),
    };
    assert_eq!(found, expected, "{} and {}", client.name, server.name);
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/eras.json")
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/eras.md")
}

#[test]
fn the_page_shows_the_table() {
    let (table, page) = (Table::read(&data()), std::fs::read_to_string(page()).unwrap());
    assert_eq!(table.put_into(&page), page, "run the tests with TOOLBOND_ERAS=write");
}

/// One test for each client and server.
macro_rules! pairs {
    ($($peer:ident: $name:literal, $sdk:ident, $era:literal;)*) => {
        pub(crate) const NAMES: &[&str] = &[$($name),*];
        pub(crate) mod peer {
            use super::{Peer, Sdk};
            $(pub(crate) const fn $peer() -> Peer { Peer::new($name, Sdk::$sdk, $era) })*
        }
        $(mod $peer {
            use super::{check, peer};
            with_each_server!(peer::$peer());
        })*
    };
}

macro_rules! with_each_server {
    ($client:expr) => {
        with_each_server!($client; typescript_v1 python_v1
            typescript_v2_legacy typescript_v2_modern typescript_v2_dual
            python_v2_legacy python_v2_modern python_v2_dual rmcp_legacy rmcp_modern rmcp_dual);
    };
    ($client:expr; $($server:ident)*) => {$(
        #[test]
        fn $server() {
            check($client, peer::$server());
        }
    )*};
}

pairs! {
    typescript_v1: "TypeScript v1", TypeScriptV1, "legacy";
    python_v1: "Python 1.x", PythonV1, "legacy";
    typescript_v2_legacy: "TypeScript v2, legacy", TypeScriptV2, "legacy";
    typescript_v2_modern: "TypeScript v2, modern", TypeScriptV2, "modern";
    typescript_v2_dual: "TypeScript v2, dual", TypeScriptV2, "dual";
    python_v2_legacy: "Python 2.x, legacy", PythonV2, "legacy";
    python_v2_modern: "Python 2.x, modern", PythonV2, "modern";
    python_v2_dual: "Python 2.x, dual", PythonV2, "dual";
    rmcp_legacy: "rmcp, legacy", Rmcp, "legacy";
    rmcp_modern: "rmcp, modern", Rmcp, "modern";
    rmcp_dual: "rmcp, dual", Rmcp, "dual";
}
