//! Hosts as their users run them, with a scripted model: what the model is offered, and what it gets, directly and through
//! the guard. `docs/hosts.md` has the tables; `UPDATE=1` writes them.
//!
//! The default set runs one host with one server, and compares the cells of that pair.

mod breaks;
mod page;
mod run;

use std::sync::Mutex;
use std::thread;

use self::page::Page;
use self::run::{HOSTS, Host, Pair, Server, servers};

#[test]
fn codex_gets_every_kind_of_result() {
    let server = servers().into_iter().find(|server| server.name == "results").unwrap();
    let codex = HOSTS.iter().find(|host| host.name == "codex").unwrap();
    let pair = Pair::measure(codex, &server);
    assert_eq!(pair.problem(), None);
    let page = Page::read();
    let missing = page::cells(&server, &pair).into_iter().filter(|cell| !page.has(cell));
    let missing: Vec<_> = missing.map(|cell| cell.to_string()).collect();
    assert!(missing.is_empty(), "docs/hosts.md has other cells than\n{}", missing.join("\n"));
}

/// A host reads its own configuration and starts the server behind the guard, which it gets no tools of otherwise.
#[test]
fn hosts_start_what_is_wrapped() {
    let server = servers().into_iter().find(|server| server.name == "modern").unwrap();
    for name in ["codex", "claude-code"] {
        let host = HOSTS.iter().find(|host| host.name == name).unwrap();
        let run = run::run_wrapped(host, &server);
        assert_eq!(run.problem(), None);
        assert!(!run.tools.is_empty(), "{name} offers no tools: {:?}", run.configurations);
        assert!(run.calls.iter().any(|call| !call.is_error), "{name}: no call succeeds");
        let [before, wrapped, unwrapped] = &run.configurations[..] else { panic!("{name}") };
        assert!(wrapped.contains("guard") && !before.contains("guard"), "{name}: {wrapped}");
        if name == "codex" {
            assert_eq!(unwrapped, before);
        } else {
            // Claude Code writes more into its configuration as it runs.
            let servers = |text: &str| {
                let config: serde_json::Value = serde_json::from_str(text).unwrap();
                config["mcpServers"]["s"].clone()
            };
            assert_ne!(unwrapped, before);
            assert_eq!(servers(unwrapped), servers(before));
        }
    }
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn every_host_and_every_server() {
    let servers = servers();
    let jobs: Vec<(&Host, &Server)> =
        servers.iter().flat_map(|server| HOSTS.iter().map(move |host| (host, server))).collect();
    let (next, found) = (Mutex::new(jobs.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(|| {
                loop {
                    let Some((host, server)) = next.lock().unwrap().next() else { break };
                    let pair = Pair::measure(host, server);
                    found.lock().unwrap().push(pair);
                }
            });
        }
    });
    let pairs = found.into_inner().unwrap();
    let problems: Vec<_> = pairs.iter().filter_map(Pair::problem).collect();
    Page::read().compare(&page::tables(&servers, &pairs));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let worse: Vec<_> = pairs.iter().flat_map(Pair::worse).collect();
    let is_known = |line: &&String| REASONS.iter().any(|(known, _)| line.contains(known));
    let unknown: Vec<_> = worse.iter().filter(|line| !is_known(line)).map(String::as_str).collect();
    assert!(
        unknown.is_empty(),
        "worse through the guard, without a reason:\n{}",
        unknown.join("\n")
    );
    for (known, reason) in REASONS {
        assert!(
            worse.iter().any(|line| line.contains(known)),
            "{known} has a reason and is not worse"
        );
        assert!(page::names_the_reason(reason), "docs/hosts.md does not say: {reason}");
    }
}

/// What is worse through the guard, and why; `docs/hosts.md` says so too.
const REASONS: [(&str, &str); 2] = [
    ("bad-input, ", "No call of a tool whose arguments are an array can be valid"),
    ("hostile-names, ", "A tool without a name is no tool"),
];
