//! One host with one server, directly and through the guard.

use std::fs;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::{peers, process};

/// How long a run may take. Each takes a few seconds where nothing else runs.
const SECONDS: u64 = 180;

/// A host.
pub(crate) struct Host {
    /// Its name in `peers/hosts/hosts.mjs`, which is that of its target.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) package: &'static str,
}

pub(crate) const HOSTS: [Host; 3] = [
    Host { name: "claude-code", title: "Claude Code", package: "@anthropic-ai/claude-code" },
    Host { name: "codex", title: "Codex", package: "@openai/codex" },
    Host { name: "gemini-cli", title: "Gemini CLI", package: "@google/gemini-cli" },
];

/// A server of `peers/hosts/servers.json`.
#[derive(Deserialize)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) words: Vec<String>,
    /// Tools and arguments; without them each tool is called once, without arguments.
    pub(crate) calls: Option<Vec<(String, Value)>>,
}

pub(crate) fn servers() -> Vec<Server> {
    serde_json::from_str(include_str!("../../../../../peers/hosts/servers.json")).unwrap()
}

/// How a host reaches a server.
pub(crate) const WAYS: [(&str, &[&str]); 3] = [
    ("directly", &[]),
    ("through the guard", &["guard", "--results-file", "none"]),
    ("with `--for auto`", &["guard", "--results-file", "none", "--for", "auto"]),
];

/// What was seen of one run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) version: String,
    code: Option<i32>,
    timed_out: bool,
    said: String,
    /// How many requests the model got.
    requests: usize,
    /// Where the host tried to connect to, other than to loopback.
    proxied: Vec<String>,
    /// What the client says of itself, if the server got it.
    pub(crate) hello: Option<Value>,
    /// The tools that the server lists.
    pub(crate) listed: Vec<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) differences: Vec<String>,
    pub(crate) calls: Vec<Call>,
    /// The configuration of the host before it was wrapped, then, and after it was unwrapped.
    pub(crate) configurations: Vec<String>,
}

impl Run {
    /// Why the host did not do what it should, if so.
    pub(crate) fn problem(&self) -> Option<String> {
        let what = if self.timed_out {
            format!("did not end within {SECONDS} s")
        } else if self.requests == 0 {
            format!("asked the model nothing (exit code {:?})", self.code)
        } else if !self.proxied.is_empty() {
            format!("tried to connect to {}", self.proxied.join(", "))
        } else {
            return None;
        };
        let said: Vec<&str> = self.said.lines().rev().take(5).collect();
        let said: Vec<&str> = said.into_iter().rev().collect();
        Some(format!("{} {what}; it said: {}", self.version, said.join(" / ")))
    }
}

/// A tool that the model is offered.
#[derive(Deserialize)]
pub(crate) struct Tool {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// How the server calls it.
    pub(crate) of: Option<String>,
}

/// A call that the model made, and what it got.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    pub(crate) of: Option<String>,
    pub(crate) arguments: Value,
    pub(crate) is_error: bool,
    pub(crate) text: String,
}

/// What comes of one host and one server.
pub(crate) struct Pair {
    pub(crate) host: &'static str,
    pub(crate) server: String,
    /// In the order of [`WAYS`].
    pub(crate) runs: [Run; 3],
}

impl Pair {
    pub(crate) fn measure(host: &Host, server: &Server) -> Self {
        let runs = WAYS.map(|(_, guard)| run(host, server, guard));
        Self { host: host.name, server: server.name.clone(), runs }
    }

    /// Why the host did not do what it should in all runs, if so.
    pub(crate) fn problem(&self) -> Option<String> {
        let problem = |(run, (way, _)): (&Run, _)| {
            let (host, server) = (self.host, &self.server);
            run.problem().map(|problem| format!("{host}, {server}, {way}: {problem}"))
        };
        self.runs.iter().zip(WAYS).find_map(problem)
    }

    /// Tools and calls that are there directly and not through the guard.
    pub(crate) fn worse(&self) -> Vec<String> {
        let [direct, guarded, viewed] = &self.runs;
        let mut worse = Vec::new();
        for (run, (way, _)) in [guarded, viewed].into_iter().zip(&WAYS[1..]) {
            let mut note =
                |what: String| worse.push(format!("{}, {}, {way}: {what}", self.host, self.server));
            for tool in direct.tools.iter().filter_map(|tool| tool.of.as_ref()) {
                if !run.tools.iter().any(|one| one.of.as_ref() == Some(tool)) {
                    note(format!("`{tool}` is not offered"));
                }
            }
            for call in direct.calls.iter().filter(|call| !call.is_error) {
                let same = |one: &&Call| one.of == call.of && one.arguments == call.arguments;
                if let Some(found) = run.calls.iter().find(same)
                    && found.is_error
                {
                    note(format!("{:?} fails: {}", call.of, found.text));
                }
            }
        }
        worse
    }
}

fn installed(name: &str) -> String {
    peers::installed(&format!("hosts/{name}/node_modules")).to_str().unwrap().to_owned()
}

/// The folder with the packages of a host: another one, if `TOOLBOND_HOST` is `NAME=FOLDER`.
fn packages(host: &str) -> String {
    let other = std::env::var("TOOLBOND_HOST").ok();
    match other.as_deref().and_then(|it| it.split_once('=')) {
        Some((name, folder)) if name == host => folder.to_owned(),
        _ => installed(host),
    }
}

/// Runs a host with a server behind the `guard`, if there is one.
pub(crate) fn run(host: &Host, server: &Server, guard: &[&str]) -> Run {
    let folder = Folder::new();
    run_in(&folder.join("home"), host, server, guard)
}

/// The same with a folder of the user at `home`, which is gone afterwards. The words of a server name it.
pub(crate) fn run_in(home: &str, host: &Host, server: &Server, guard: &[&str]) -> Run {
    let mut job = job(home, host, server);
    if !guard.is_empty() {
        job["guard"] = [&[env!("CARGO_BIN_EXE_toolbond")], guard, &["--"]].concat().into();
    }
    start(home, host, &job)
}

/// Runs a host with its own configuration, after `toolbond wrap` and before `toolbond unwrap`.
pub(crate) fn run_wrapped(host: &Host, server: &Server) -> Run {
    let folder = Folder::new();
    let home = folder.join("home");
    let mut job = job(&home, host, server);
    let toolbond = env!("CARGO_BIN_EXE_toolbond");
    job["wrap"] = json!([toolbond, "wrap", host.name, "s"]);
    job["unwrap"] = json!([toolbond, "unwrap", host.name]);
    start(&home, host, &job)
}

fn start(home: &str, host: &Host, job: &Value) -> Run {
    let run = || {
        fs::create_dir(home).unwrap();
        let run = run_once(host, job);
        fs::remove_dir_all(home).unwrap();
        run
    };
    let first = run();
    // On a busy machine a host may not wait for a server: no tools twice are no tools.
    if first.tools.is_empty() { run() } else { first }
}

/// What to run, without a guard.
fn job(home: &str, host: &Host, server: &Server) -> Value {
    let toolbond = env!("CARGO_BIN_EXE_toolbond");
    let folders = [
        ("NODE", peers::node_modules().to_str().unwrap().to_owned()),
        ("SEP", installed("sep-server")),
        ("PEERS", peers::path("").to_str().unwrap().trim_end_matches('/').to_owned()),
    ];
    let full = |word: &String| match word.split_once('/') {
        None if word == "TOOLBOND" => toolbond.to_owned(),
        Some((name, rest)) => match folders.iter().find(|(known, _)| *known == name) {
            Some((_, folder)) => format!("{folder}/{rest}"),
            None => word.clone(),
        },
        None => word.clone(),
    };
    let words: Vec<String> = server.words.iter().map(full).collect();
    let mut job = json!({
        "host": host.name, "packages": packages(host.name), "home": home, "server": words, "seconds": SECONDS,
    });
    if let Some(calls) = &server.calls {
        job["calls"] = json!(calls);
    }
    job
}

fn run_once(host: &Host, job: &Value) -> Run {
    let program = peers::path("hosts/run.mjs");
    let mut command = process::command(&[peers::node().as_str(), program.to_str().unwrap()]);
    let output = command.arg(job.to_string()).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {error}", host.name))
}
