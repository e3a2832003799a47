//! Hosts and a server whose tools break their output schemas: what reaches the model, directly and through the guard.
//! `docs/results.md` has the tables; `UPDATE=1` writes them.
//!
//! A host lists the tools once, and calls each once. Then host and guard start anew.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::thread;

use toolbond_harness::files::Folder;

use super::run::{Call, HOSTS, Host, Server, run_in};
use crate::breaks::{Round, SERVERS, server};
use crate::breaks_table::{Answer, Fate, Page, answers, cell, count, title};

/// Data that the model does not read: Gemini CLI shows only the text of results, and this one is valid and has none.
const UNREAD: [(&str, &str); 1] = [("gemini-cli", "date_without_zone")];

/// What became of the calls of a host: directly, and through the guard in the first run and after a restart.
struct Runs {
    host: &'static str,
    server: &'static str,
    rounds: [Round; 3],
    problems: Vec<String>,
}

impl Runs {
    fn measure(host: &'static Host, era: &'static str) -> Self {
        let words = server(era);
        let server = Server { name: era.to_owned(), title: String::new(), words, calls: None };
        let folder = Folder::new();
        let (file, home) = (folder.join("results-1.json"), folder.join("home"));
        let guard = ["guard", "--results-file", &file];
        let runs = [&[][..], &guard, &guard].map(|words| run_in(&home, host, &server, words));
        let mut problems: Vec<_> = runs.iter().filter_map(super::run::Run::problem).collect();
        let rounds = runs.map(|run| {
            let call = |tool: &str| run.calls.iter().find(|it| it.of.as_deref() == Some(tool));
            answers().iter().map(|answer| fate(answer, call(&answer.tool))).collect::<Round>()
        });
        let [direct, first, restarted] = &rounds;
        for (index, answer) in answers().iter().enumerate() {
            let place = format!("{}, {era} server, {}", host.name, answer.tool);
            if first[index] < direct[index] {
                problems.push(format!("{place}: {:?} < {:?}", first[index], direct[index]));
            }
            let is_known = UNREAD.contains(&(host.name, &answer.tool));
            if (restarted[index] == Fate::Arrived) == is_known {
                problems.push(format!("{place}, after a restart: {:?}", restarted[index]));
            }
        }
        Self { host: host.title, server: era, rounds, problems }
    }
}

/// What became of the data, by what the model reads.
fn fate(answer: &Answer, call: Option<&Call>) -> Fate {
    match call {
        Some(call) if !answer.is_in(&call.text) => Fate::Lost,
        Some(call) if call.is_error != answer.is_error => Fate::InError,
        Some(_) => Fate::Arrived,
        None => Fate::Lost,
    }
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn every_host_gets_what_its_server_sends() {
    let jobs: Vec<_> = HOSTS.iter().flat_map(|host| SERVERS.map(|era| (host, era))).collect();
    let (next, found) = (Mutex::new(jobs.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(|| {
                loop {
                    let Some((host, era)) = next.lock().unwrap().next() else { break };
                    let runs = Runs::measure(host, era);
                    found.lock().unwrap().push(runs);
                }
            });
        }
    });
    let runs = found.into_inner().unwrap();
    Page::read().compare("hosts", &tables(&runs));
    let problems: Vec<_> = runs.iter().flat_map(|runs| &runs.problems).cloned().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn tables(runs: &[Runs]) -> String {
    let find = |host: &Host, era: &str| {
        runs.iter().find(|it| (it.host, it.server) == (host.title, era)).unwrap()
    };
    let mut text = "| host | server | directly | guard, first run | after a restart |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for host in &HOSTS {
        for era in SERVERS {
            let counts = find(host, era).rounds.each_ref().map(count).join(" | ");
            _ = writeln!(text, "| {} | {era} | {counts} |", host.title);
        }
    }
    let names = HOSTS.each_ref().map(|host| host.title).join(" | ");
    for era in SERVERS {
        _ = write!(
            text,
            "\n{}| | {names} |\n| --- |{}\n",
            title(era),
            " --- |".repeat(HOSTS.len())
        );
        for (index, answer) in answers().iter().enumerate() {
            let cells = HOSTS.each_ref().map(|host| cell(&find(host, era).rounds, index));
            _ = writeln!(text, "| `{}` | {} |", answer.tool, cells.join(" | "));
        }
    }
    text
}
