//! The whole corpus of published tools: judging, projecting, lifting.

use std::{hint::black_box, time::Instant};

use anyhow::anyhow;
use serde_json::Value;
use toolpact_contract::{JudgeOptions, Policy, Revision, judge_tools, lift_tool, project_tool};
use toolpact_testkit::corpus::{self, Server};

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
    Ok(())
}

fn report<T>(what: &str, tools: usize, work: impl FnOnce() -> T) {
    let started = Instant::now();
    black_box(work());
    let taken = started.elapsed();
    let each = taken / u32::try_from(tools.max(1)).unwrap_or(u32::MAX);
    println!("{what:<32} {taken:>10.1?} {each:>10.1?} a tool");
}
