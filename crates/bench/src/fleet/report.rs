//! The table of calls, and whether the bars are met.

use super::Options;
use super::rounds::{Behind, CLIENTS, Tally};
use super::series::Series;
use super::subject::Through;
use crate::guard::cases::Missing;
use crate::guard::peers::Installed;

/// The most processor time of `ext-proc` for a call, beside the guard's.
const OF_GUARD: f64 = 2.0;

/// The least share of the calls of plain Envoy, with 32 clients.
const OF_ENVOY: f64 = 0.5;

/// The most processor time of two replicas together for a call, beside one replica's.
const OF_ONE_REPLICA: f64 = 1.3;

/// Prints what all tables have in common.
pub(super) fn head(options: &Options) {
    println!("cargo xtask bench fleet: tools/call, an array of 20 items, loopback; everything");
    println!("shares two processors: clients, proxies, replicas and server");
    let versions = Installed::new().proxy_versions().join(", ");
    println!("toolbond {}; {versions}", env!("CARGO_PKG_VERSION"));
    println!(
        "Envoy has {} worker; ext-proc in FULL_DUPLEX_STREAMED both ways; arguments and results enforced",
        options.envoy_workers
    );
    println!("medians of {} rounds in turns; CPU is processor time for a call", options.rounds);
}

/// Prints what came of the calls.
pub(super) fn calls(behind: Behind, all: &[Series], missing: &Missing, tally: &Tally) {
    println!("\nin front of {}\n", behind.name());
    println!(
        "{:<20} {:>7} {:>8} {:>8} {:>9} {:>10} {:>10} {:>10} {:>12}",
        "through",
        "clients",
        "p50 µs",
        "p99 µs",
        "calls/s",
        "to Envoy",
        "proxy CPU",
        "our CPU",
        "CPU together"
    );
    for clients in CLIENTS {
        let envoy = find(all, Through::Envoy, clients).map(Series::per_second);
        for through in Through::ALL {
            let Some(series) = find(all, through, clients) else { continue };
            println!(
                "{:<20} {clients:>7} {:>8.0} {:>8.0} {:>9.0} {:>10} {:>10.1} {:>10.1} {:>12.1}",
                through.name(),
                series.p50(),
                series.p99(),
                series.per_second(),
                envoy
                    .map(|envoy| format!("{:.2}", series.per_second() / envoy))
                    .unwrap_or_default(),
                series.proxy(),
                series.checkers(),
                series.together(),
            );
        }
        println!();
    }
    for (name, reason) in missing {
        println!("not measured: {name}: {reason}");
    }
    println!(
        "{} calls, 0 wrong answers; {} of them to be validated, {} not validated",
        tally.calls, tally.to_check, tally.unchecked
    );
    bars(all);
}

fn bars(all: &[Series]) {
    for clients in CLIENTS {
        let find = |through| find(all, through, clients);
        let (guard, envoy) = (find(Through::Guard), find(Through::Envoy));
        let (one, two) = (find(Through::OneReplica), find(Through::TwoReplicas));
        if let (Some(one), Some(guard)) = (one, guard) {
            let ratio = one.checkers() / guard.checkers();
            let what = "the processor time of the guard, at most";
            verdict(
                ratio <= OF_GUARD,
                &format!("1 ext-proc, {clients} clients: {ratio:.2} of {what} {OF_GUARD} wanted"),
            );
        }
        if let (Some(one), Some(two)) = (one, two) {
            let ratio = two.checkers() / one.checkers();
            let what = "the processor time of one, at most";
            verdict(
                ratio <= OF_ONE_REPLICA,
                &format!(
                    "2 ext-proc, {clients} clients: {ratio:.2} of {what} {OF_ONE_REPLICA} wanted"
                ),
            );
        }
        for (series, count) in [(one, 1), (two, 2)] {
            // The bar is for many clients: with one, the calls of Envoy are a matter of latency.
            if clients > 1
                && let (Some(series), Some(envoy)) = (series, envoy)
            {
                let ratio = series.per_second() / envoy.per_second();
                let what = "the calls of plain Envoy, at least";
                verdict(
                    ratio >= OF_ENVOY,
                    &format!(
                        "{count} ext-proc, {clients} clients: {ratio:.2} of {what} {OF_ENVOY} wanted"
                    ),
                );
            }
        }
    }
}

fn verdict(is_met: bool, text: &str) {
    println!("{}: {text}", if is_met { "met" } else { "where we lose" });
}

fn find(all: &[Series], through: Through, clients: usize) -> Option<&Series> {
    all.iter().find(|one| one.through == through && one.clients == clients)
}
