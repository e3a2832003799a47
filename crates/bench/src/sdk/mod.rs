//! The same server bare (`rmcp`), behind `toolbond::enforce`, and written with `#[toolbond::tools]`.
//!
//! The clients write bytes and read bytes: what is compared is the server's share. Bare servers check nothing;
//! the others validate every argument and every result, and shape results for the era of the client.

mod http;
mod pipe;
mod request;
mod rounds;
mod servers;

use http::Post;
use pipe::Pipe;
use request::Era;
use rounds::{Connection, Way, measure};
use servers::{Bare, Ours};
use tokio::runtime;

const WAYS: [&str; 3] = ["bare", "enforce", "#[tools]"];

const TOOLS: [(&str, &str); 2] = [("forecast", "array of 20"), ("count", "i64")];

/// Prints calls a second, latencies and shares.
pub(crate) fn run(rounds: usize, only: &str) -> anyhow::Result<()> {
    println!(
        "calls a second (median of {rounds} rounds in turns) and processor time, as shares of bare rmcp 3.8.0"
    );
    println!(
        "{:<38} {:<9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>7}",
        "transport, clients, revision, result",
        "server",
        "calls/s",
        "share",
        "p50",
        "p99",
        "cpu/call",
        "share"
    );
    // One thread for client and server: nothing but their own work counts.
    let one = runtime::Builder::new_current_thread().enable_all().build()?;
    let many = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for era in Era::ALL {
        for (tool, result) in TOOLS {
            let row = format!("in process, 1, {}, {result}", era.revision());
            if row.contains(only) {
                one.block_on(in_process(&row, rounds, era, tool))?;
            }
            for clients in [1, 16] {
                let row = format!("http, {clients}, {}, {result}", era.revision());
                if row.contains(only) {
                    many.block_on(over_http(&row, rounds, era, tool, clients))?;
                }
            }
        }
    }
    Ok(())
}

async fn in_process(row: &str, rounds: usize, era: Era, tool: &str) -> anyhow::Result<()> {
    let pipes = [
        Pipe::open(Bare, era, tool).await?,
        Pipe::open(toolbond::enforce(Bare), era, tool).await?,
        Pipe::open(toolbond::enforce(Ours), era, tool).await?,
    ];
    let ways = WAYS.into_iter().zip(pipes).map(|(name, pipe)| Way::new(name, vec![pipe]));
    let mut ways: Vec<_> = ways.collect();
    measure(&mut ways, rounds).await?;
    print(row, &mut ways);
    Ok(())
}

async fn over_http(
    row: &str,
    rounds: usize,
    era: Era,
    tool: &'static str,
    clients: usize,
) -> anyhow::Result<()> {
    let addresses = [
        http::serve(Bare).await?,
        http::serve(toolbond::enforce(Bare)).await?,
        http::serve(toolbond::enforce(Ours)).await?,
    ];
    let mut ways = Vec::new();
    for (name, address) in WAYS.into_iter().zip(addresses) {
        let mut connections = Vec::new();
        for _ in 0..clients {
            connections.push(Post::open(address, era, tool).await?);
        }
        ways.push(Way::new(name, connections));
    }
    measure(&mut ways, rounds).await?;
    print(row, &mut ways);
    Ok(())
}

fn print<C: Connection>(row: &str, ways: &mut [Way<C>]) {
    let shares: Vec<_> = ways.iter().map(|way| way.share_of(&ways[0])).collect();
    for (at, way) in ways.iter_mut().enumerate() {
        let row = if at == 0 { row } else { "" };
        let [half, most] = [0.5, 0.99].map(|part| format!("{:.0?}", way.latency(part)));
        let (name, rate) = (way.name, way.rate());
        let cost = format!("{:.1?}", way.cost());
        let [by_clock, by_cost] = shares[at];
        println!(
            "{row:<38} {name:<9} {rate:>9.0} {by_clock:>7.2} {half:>9} {most:>9} {cost:>9} {by_cost:>7.2}"
        );
    }
}
