//! Clients of six SDKs and a server whose tools break their output schemas, each in a way of its own: what reaches a model,
//! directly and through the guard. `docs/results.md` has the tables; `UPDATE=1` writes them.
//!
//! A client lists the tools, calls each, and does both once more. Then the guard starts anew.

use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::mcp::url;
use toolbond_harness::peers;
use toolbond_harness::process::{self, Process, program};

use crate::breaks_table::{CLIENT_TABLES, Fate, Page, answers, tables};

/// A client: an SDK that is set to an era.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    program: &'static str,
    mode: &'static str,
}

const fn client(name: &'static str, program: &'static str, mode: &'static str) -> Client {
    Client { name, program, mode }
}

pub(crate) const CLIENTS: [Client; 10] = [
    client("TypeScript v1", "clients/rounds.mjs", "v1"),
    client("TypeScript v2, legacy", "clients/rounds.mjs", "legacy"),
    client("TypeScript v2, 2026-07-28", "clients/rounds.mjs", "modern"),
    client("Python 1.x", "clients/rounds_v1.py", "legacy"),
    client("Python 2.x, legacy", "clients/rounds_v2.py", "legacy"),
    client("Python 2.x, 2026-07-28", "clients/rounds_v2.py", "2026-07-28"),
    client("FastMCP, legacy", "clients/rounds_fastmcp.py", "legacy"),
    client("FastMCP, 2026-07-28", "clients/rounds_fastmcp.py", "2026-07-28"),
    client("rmcp, legacy", "rmcp/rounds", "legacy"),
    client("rmcp, 2026-07-28", "rmcp/rounds", "modern"),
];

/// The eras of the server.
pub(crate) const SERVERS: [&str; 2] = ["legacy", "modern"];

/// How the guard is reached, and the server.
pub(crate) const TRANSPORTS: [&str; 3] = ["stdio", "HTTP", "HTTP before a process"];

/// What became of each call of a round, in the order of [`answers`].
pub(crate) type Round = Vec<Fate>;

/// What became of the calls of a client: directly, and through the guard in the first round, in the second, and in the
/// first one after a restart.
pub(crate) struct Runs {
    pub(crate) client: &'static str,
    pub(crate) server: &'static str,
    pub(crate) transport: &'static str,
    pub(crate) rounds: [Round; 4],
}

impl Runs {
    /// Where the guard is worse than nothing, or data does not arrive as a result.
    fn problems(&self) -> Vec<String> {
        let [direct, first, second, restarted] = &self.rounds;
        let mut problems = Vec::new();
        for (index, answer) in answers().iter().enumerate() {
            let Self { client, server, transport, .. } = self;
            let place = format!("{client}, {server} server, {transport}, {}", answer.tool);
            if first[index] < direct[index] {
                problems.push(format!("{place}: {:?} < {:?}", first[index], direct[index]));
            }
            for (round, name) in [(second, "round 2"), (restarted, "after a restart")] {
                if round[index] != Fate::Arrived {
                    problems.push(format!("{place}, {name}: {:?}", round[index]));
                }
            }
        }
        problems
    }
}

/// The words that start the server.
pub(crate) fn server(era: &str) -> Vec<String> {
    let mut words = peers::words("servers/breaks.mjs");
    words.push(peers::path("servers/breaks.json").to_str().unwrap().to_owned());
    words.push(era.to_owned());
    words
}

/// A guard before the server, as words; what it learns stays in `folder`.
fn guarded(server: &[String], folder: &Folder) -> Vec<String> {
    let cache = format!("XDG_CACHE_HOME={}", folder.path().display());
    let guard = ["env", &cache, program().to_str().unwrap(), "guard", "--"].map(str::to_owned);
    [&guard, server].concat()
}

/// A guard on HTTP before `server`, options of the guard.
fn guarded_on_http(server: &[String], folder: &Folder) -> (Process, u16) {
    let mut command = process::toolbond(&["guard", "--listen", "127.0.0.1:0"]);
    command.args(server).env("XDG_CACHE_HOME", folder.path());
    Process::listening(command)
}

impl Client {
    /// What comes of visits: each a server, and for each round whether to list before it.
    fn visit(
        &self,
        called: Option<&str>,
        visits: &[(Vec<String>, Vec<bool>)],
    ) -> Vec<Vec<Vec<Value>>> {
        let names: Vec<_> = answers().into_iter().map(|answer| answer.tool).collect();
        let visits = visits.iter().map(|(target, rounds)| {
            let rounds: Vec<_> = rounds.iter().map(|lists| json!([lists, names])).collect();
            json!([target, rounds])
        });
        let mut command = peers::command(self.program);
        command.arg(self.mode).arg(visits.collect::<Value>().to_string());
        command.envs(called.map(|name| ("CLIENT_NAME", name)));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.name);
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// What became of the calls over one transport.
    fn runs(&self, server_era: &'static str, transport: &'static str) -> Runs {
        let (folder, words) = (Folder::new(), server(server_era));
        let twice = vec![true, true];
        let seen = if transport == "stdio" {
            let guard = guarded(&words, &folder);
            self.visit(None, &[(words, twice.clone()), (guard.clone(), twice), (guard, vec![true])])
        } else {
            let is_process = transport == "HTTP before a process";
            let process = (!is_process).then(|| {
                let mut command = process::command(&words);
                command.arg("--http");
                Process::listening(command)
            });
            let (direct, before) = match &process {
                Some((_, port)) => (vec![url(*port)], vec!["--upstream".to_owned(), url(*port)]),
                None => (words.clone(), [vec!["--".to_owned()], words].concat()),
            };
            let (mut guard, port) = guarded_on_http(&before, &folder);
            let mut seen = self.visit(None, &[(direct, twice.clone()), (vec![url(port)], twice)]);
            guard.signal("-TERM");
            guard.wait();
            let (_guard, port) = guarded_on_http(&before, &folder);
            seen.extend(self.visit(None, &[(vec![url(port)], vec![true])]));
            seen
        };
        let fates = |round: &Vec<Value>| {
            answers().iter().zip(round).map(|(it, seen)| it.fate(seen)).collect()
        };
        let [direct, guarded, restarted] = seen.as_slice() else { panic!("{seen:?}") };
        let rounds = [&direct[0], &guarded[0], &guarded[1], &restarted[0]].map(fates);
        Runs { client: self.name, server: server_era, transport, rounds }
    }
}

impl Client {
    /// Calls each tool ten times after one list, under a name that is known to validate.
    fn lists_once(&self) {
        let (folder, words) = (Folder::new(), server("legacy"));
        let rounds: Vec<_> = (0..10).map(|round| round == 0).collect();
        let visits = [(guarded(&words, &folder), rounds)];
        let seen = self.visit(Some("claude-ai"), &visits).remove(0);
        assert_eq!(seen.len(), 10);
        for (round, seen) in seen.iter().enumerate() {
            for (answer, seen) in answers().iter().zip(seen) {
                let place = format!("{}, call {round} of {}: {seen}", self.name, answer.tool);
                match answer.fate(seen) {
                    Fate::Lost => panic!("{place}"),
                    Fate::InError => {
                        let text = seen["texts"][0].as_str().unwrap_or_else(|| panic!("{place}"));
                        assert!(
                            text.starts_with("the tool ran; do not repeat the call"),
                            "{place}"
                        );
                    }
                    Fate::Arrived => {}
                }
            }
        }
    }
}

#[test]
fn a_client_that_is_known_to_validate_and_lists_once_gets_everything() {
    CLIENTS[0].lists_once();
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn every_client_that_is_known_to_validate_and_lists_once_gets_everything() {
    CLIENTS.iter().for_each(Client::lists_once);
}

#[test]
fn a_client_that_validates_gets_what_its_server_sends() {
    for (client, server, transport) in [(0, "legacy", "stdio"), (2, "modern", TRANSPORTS[2])] {
        let runs = CLIENTS[client].runs(server, transport);
        assert_eq!(runs.problems(), Vec::<String>::new());
        assert_eq!(Page::read().missing(&runs), Vec::<String>::new(), "docs/results.md differs");
    }
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn every_client_gets_what_its_server_sends() {
    let jobs: Vec<_> = CLIENTS
        .iter()
        .flat_map(|client| SERVERS.map(|server| (client, server)))
        .flat_map(|(client, server)| TRANSPORTS.map(|transport| (client, server, transport)))
        .collect();
    let (next, found) = (Mutex::new(jobs.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(|| {
                loop {
                    let Some((client, server, transport)) = next.lock().unwrap().next() else {
                        break;
                    };
                    let runs = client.runs(server, transport);
                    found.lock().unwrap().push(runs);
                }
            });
        }
    });
    let runs = found.into_inner().unwrap();
    Page::read().compare(CLIENT_TABLES, &tables(&runs));
    let problems: Vec<_> = runs.iter().flat_map(Runs::problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
