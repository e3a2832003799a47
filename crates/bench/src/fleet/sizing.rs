//! What a replica needs: memory by the tools that it knows, calls for each core, and the cost of tool lists.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use toolbond_harness::address::local;
use toolbond_harness::corpus;
use toolbond_harness::envoy::Setup;
use toolbond_harness::proc::status;

use super::Options;
use super::rounds::one_round;
use super::subject::{CONTRACT, STATUS, Subject, Through};
use crate::calls::list;
use crate::http::Connection;
use crate::peers;
use crate::serve::{self, BOTH_ERAS};
use crate::stats::{float, median, processor_time};
use crate::table::Table;

/// Tools of each server.
const TOOLS: usize = 100;

/// Servers whose tools a replica knows, when its memory is looked at.
const SERVERS: [usize; 3] = [0, 10, 100];

/// How often each server is asked for its list again.
const AGAIN: usize = 5;

/// After this time a process has done what it does at its start, and after work.
const SETTLE: Duration = Duration::from_secs(1);

/// Clients at a time that call as fast as they are answered.
const CLIENTS: usize = 32;

/// Measures and prints all of it.
pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    println!("\nsizing (cargo xtask bench fleet --only sizing)\n");
    calls_per_core(options)?;
    match corpus::files() {
        Ok(_) => tools(options),
        Err(reason) => {
            println!("memory and tool lists: skipped, {reason}");
            Ok(())
        }
    }
}

/// Prints how many calls a core that does nothing else checks in a second.
fn calls_per_core(options: &Options) -> anyhow::Result<()> {
    let (_upstream, port) = serve::on_http("plain", &BOTH_ERAS)?;
    let mut subject = Subject::start(Through::Envoy(1), port, options.envoy_workers)?;
    let (mut ours, mut both) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let processor = one_round(&mut subject, CLIENTS)?.0.processor;
        ours.push(processor.checkers);
        both.push(processor.proxy + processor.checkers);
    }
    let (ours, both) = (median(ours), median(both));
    println!(
        "calls a second and core, {CLIENTS} clients: {:.0} of ext-proc alone ({ours:.1} µs a call), {:.0} with Envoy ({both:.1} µs)",
        1e6 / ours,
        1e6 / both
    );
    Ok(())
}

/// Prints the memory of a replica that knows more and more tools, and what their lists cost.
fn tools(options: &Options) -> anyhow::Result<()> {
    let (_upstream, to) = serve::on_http("plain", &["--published", &TOOLS.to_string()])?;
    let most = SERVERS.into_iter().max().unwrap_or_default();
    let names: Vec<_> = (0..most).map(|number| format!("s{number}")).collect();
    let (mut contract, mut routes) = (CONTRACT.to_owned(), String::new());
    for name in &names {
        write!(contract, "[servers.{name}]\nurl = \"http://127.0.0.1:{to}/{name}/mcp\"\n")?;
        let matched = format!("match: {{ prefix: /{name}/ }}, route: {{ cluster: weather }}");
        write!(routes, "- {{ name: {name}, {matched} }}\n{:24}", "")?;
    }
    let setup = Setup {
        contract: &contract,
        replicas: 1,
        replaced: &[("- name: weather\n     ", &format!("{routes}- name: weather\n     "))],
        options: &STATUS,
        workers: options.envoy_workers,
        ..Setup::default()
    };
    let envoy = peers::envoy(to, &setup)?;
    let (port, process) = (envoy.port, envoy.replicas[0].process.id());
    let bytes = ask(to, "/s0/mcp")?.len();
    println!(
        "tools of the corpus, {TOOLS} to a server: {bytes} bytes a list; {most} servers configured"
    );
    let table = Table::start(">7 servers | >7 tools | >10 memory MiB | >14 KiB for a tool");
    let (mut known, mut first, mut idle) = (0, Lists::default(), None);
    for count in SERVERS {
        first.add(process, port, &names[known..count])?;
        known = count;
        std::thread::sleep(SETTLE);
        let memory = float(status(process, "VmRSS").unwrap_or_default().try_into()?);
        let (tools, idle) = (count * TOOLS, *idle.get_or_insert(memory));
        let each = (memory - idle).max(0.0) / float(tools.max(1));
        let memory = memory / 1024.0;
        table.row(&[&count, &tools, &format_args!("{memory:.1}"), &format_args!("{each:.1}")]);
    }
    let mut again = Lists::default();
    for _ in 0..AGAIN {
        again.add(process, port, &names)?;
    }
    for (what, lists) in [("first", first), ("again", again)] {
        let count = float(lists.times.len().max(1));
        println!(
            "tools/list of {TOOLS} tools, {what}: p50 {:.2} ms through Envoy; {:.2} ms of processor time of ext-proc",
            median(lists.times),
            lists.processor / count,
        );
    }
    let direct: anyhow::Result<Vec<f64>> = names.iter().map(|name| timed(to, name)).collect();
    println!("tools/list of {TOOLS} tools, direct: p50 {:.2} ms", median(direct?));
    Ok(())
}

/// What lists cost, in milliseconds.
#[derive(Default)]
struct Lists {
    times: Vec<f64>,
    processor: f64,
}

impl Lists {
    /// Asks each of the servers `names` for its list, through what listens on `port`.
    fn add(&mut self, process: u32, port: u16, names: &[String]) -> anyhow::Result<()> {
        let before = processor_time(process)?;
        for name in names {
            self.times.push(timed(port, name)?);
        }
        let after = processor_time(process)?;
        self.processor += (after - before) / 1e3;
        Ok(())
    }
}

/// How many milliseconds the list of the server `name` takes.
fn timed(port: u16, name: &str) -> anyhow::Result<f64> {
    let start = Instant::now();
    let path = format!("/{name}/mcp");
    let answer = ask(port, &path)?;
    let taken = start.elapsed().as_secs_f64() * 1e3;
    let answer: Value = serde_json::from_slice(&answer).context("no JSON")?;
    let tools = answer["result"]["tools"].as_array().context("no tools")?;
    let is_of_server =
        |tool: &Value| tool["description"].as_str().is_some_and(|text| text.contains(&path));
    ensure!(tools.len() > TOOLS * 9 / 10, "{} tools of {TOOLS}", tools.len());
    ensure!(tools.iter().all(is_of_server), "the list of another server");
    Ok(taken)
}

fn ask(port: u16, path: &str) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(local(port), path, "2026-07-28")?;
    connection.header("mcp-method: tools/list");
    connection.ask(list().as_bytes())
}
