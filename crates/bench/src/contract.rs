//! The whole corpus of published tools: judging, projecting, lifting.

use std::{hint::black_box, time::Instant};

use anyhow::anyhow;
use serde_json::{Value, json};
use toolbond_contract::{JudgeOptions, Policy, Revision, judge_tools, lift_tool, project_tool};
use toolbond_harness::corpus::{self, Server};

/// Prints what the whole corpus takes.
pub(crate) fn run() -> anyhow::Result<()> {
    let servers: Vec<Server> = corpus::servers().map_err(|reason| anyhow!("{reason}"))?.collect();
    let tools: Vec<&Value> = servers.iter().flat_map(Server::tools).collect();
    println!("{} tool lists, {} tools, one thread", servers.len(), tools.len());
    for policy in Policy::ALL {
        let options = JudgeOptions::default().policy(policy);
        let documents: Vec<Value> = servers.iter().map(|server| server.document.clone()).collect();
        report(&format!("judge under {policy}"), tools.len(), || {
            let judged = documents.into_iter().map(|document| judge_tools(document, &options));
            judged.map(|judged| judged.findings.len()).sum::<usize>()
        });
    }
    let legacy = Revision::V2025_11_25;
    report("project to 2025-11-25 and lift", tools.len(), || {
        let shaped = tools.iter().filter_map(|tool| project_tool(tool, &legacy).ok());
        shaped.filter(|shaped| lift_tool(&shaped.tool, &legacy).is_ok()).count()
    });
    println!("eight times the size takes (a quadratic way would take 64 times as long):");
    growth("judge and repair tools", [2_000, 16_000], |size| {
        let tool = |at| json!({ "name": format!("t{at}"), "inputSchema": { "required": null } });
        let list: Value = (0..size).map(tool).collect();
        let options = JudgeOptions::default().policy(Policy::Repair);
        timed(move || judge_tools(list, &options).findings.len())
    });
    growth("project branches with references", [2_000, 16_000], |size| {
        let branch =
            |at| json!({ "not": { "prefixItems": [{ "$ref": format!("#/anyOf/{at}") }] } });
        let branches: Vec<Value> = (0..size).map(branch).collect();
        let tool = json!({ "name": "t", "outputSchema": { "anyOf": branches } });
        let legacy = legacy.clone();
        timed(move || project_tool(&tool, &legacy).is_ok())
    });
    Ok(())
}

/// How much longer the second size takes than the first, the fastest of five runs each.
fn growth(what: &str, sizes: [usize; 2], time: impl Fn(usize) -> f64) {
    let fastest = |size| (0..5).map(|_| time(size)).fold(f64::MAX, f64::min);
    let [small, large] = sizes.map(fastest);
    println!("{what:<32} {:>9.1} times as long", large / small);
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_secs_f64()
}

fn report<T>(what: &str, tools: usize, work: impl FnOnce() -> T) {
    let started = Instant::now();
    black_box(work());
    let taken = started.elapsed();
    let each = taken / u32::try_from(tools.max(1)).unwrap_or(u32::MAX);
    println!("{what:<32} {taken:>10.1?} {each:>10.1?} a tool");
}
