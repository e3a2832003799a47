//! Linting every tool of the corpus for all targets, and views for each of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::corpus;
use toolbond_targets::{LintOptions, lint_tools, targets, view_tools};

/// How often each measurement is repeated; the best counts.
const ROUNDS: usize = 3;

#[expect(clippy::unnecessary_wraps, reason = "the same as the other subjects")]
pub(crate) fn run() -> anyhow::Result<()> {
    let lists: Vec<Vec<Value>> = match corpus::servers() {
        Ok(servers) => servers.map(|server| server.tools().to_vec()).collect(),
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    println!("Lint of published tool lists, single-threaded, best of {ROUNDS}.\n");
    println!("| tools | targets | ms | tools/s | µs a tool | beside a quarter |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let all: Vec<_> = targets().to_vec();
    let count = |lists: &[Vec<Value>]| lists.iter().map(Vec::len).sum::<usize>();
    let mut quarter = 0.0;
    for share in [4, 2, 1] {
        let part: Vec<_> = lists.iter().step_by(share).cloned().collect();
        let took = lint(&part, &LintOptions::default().targets(all.iter().copied()));
        let a_tool = micros(took) / to_f64(count(&part));
        if share == 4 {
            quarter = a_tool;
        }
        report(count(&part), all.len(), took, &format!("{:.2}", a_tool / quarter));
    }
    report(count(&lists), 0, lint(&lists, &LintOptions::default()), "");
    println!("\nViews of the same tools, for each target in turn.\n");
    println!("| target | tools | changed | ms | tools/s |");
    println!("| --- | --- | --- | --- | --- |");
    for target in all {
        let mut changed = 0;
        let took = best(|| {
            changed = lists
                .iter()
                .flat_map(|tools| view_tools(tools, target))
                .filter(|view| !view.is_unchanged())
                .count();
        });
        let tools = count(&lists);
        let rate = to_f64(tools) / took.as_secs_f64();
        println!("| {} | {tools} | {changed} | {} | {rate:.0} |", target.name, took.as_millis());
    }
    Ok(())
}

fn lint(lists: &[Vec<Value>], options: &LintOptions) -> Duration {
    best(|| {
        for tools in lists {
            let report = lint_tools(json!({ "tools": tools }), options);
            drop(std::hint::black_box(report));
        }
    })
}

fn best(mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

fn report(tools: usize, targets: usize, took: Duration, beside: &str) {
    let rate = to_f64(tools) / took.as_secs_f64();
    let a_tool = micros(took) / to_f64(tools);
    println!("| {tools} | {targets} | {} | {rate:.0} | {a_tool:.0} | {beside} |", took.as_millis());
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "thousands of tools")]
fn to_f64(count: usize) -> f64 {
    count as f64
}
