//! The table of calls, and whether the bars are met.

use super::Options;
use super::rounds::{CLIENTS, Calls, Series};
use super::subject::Through;
use crate::peers;
use crate::table::{Table, verdict};

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
    let versions = peers::proxy_versions().join(", ");
    println!("toolbond {}; {versions}", env!("CARGO_PKG_VERSION"));
    println!(
        "Envoy has {} worker; ext-proc in FULL_DUPLEX_STREAMED both ways; arguments and results enforced",
        options.envoy_workers
    );
    println!("medians of {} rounds in turns; CPU is processor time for a call", options.rounds);
}

/// Prints what came of the calls.
pub(super) fn calls(behind: &str, calls: &Calls) {
    println!("\nin front of {behind}\n");
    let table = Table::start(
        "<20 through | >7 clients | >8 p50 µs | >8 p99 µs | >9 calls/s | >10 to Envoy | >10 proxy CPU | >10 our CPU | >12 CPU together",
    );
    for clients in CLIENTS {
        let envoy = find(&calls.all, Through::Envoy(0), clients).map(Series::per_second);
        for through in Through::ALL {
            let Some(series) = find(&calls.all, through, clients) else { continue };
            let per_second = series.per_second();
            let to_envoy = envoy.map(|envoy| format!("{:.2}", per_second / envoy));
            table.row(&[
                &through.name(),
                &clients,
                &format_args!("{:.0}", series.median(|round| round.measured.p50)),
                &format_args!("{:.0}", series.median(|round| round.measured.p99)),
                &format_args!("{per_second:.0}"),
                &to_envoy.unwrap_or_default(),
                &format_args!("{:.1}", series.median(|round| round.processor.proxy)),
                &format_args!("{:.1}", series.checkers()),
                &format_args!(
                    "{:.1}",
                    series.median(|round| round.processor.proxy + round.processor.checkers)
                ),
            ]);
        }
        println!();
    }
    for (name, reason) in &calls.missing {
        println!("not measured: {name}: {reason}");
    }
    let Calls { count, to_check, unchecked, .. } = calls;
    println!(
        "{count} calls, 0 wrong answers; {to_check} of them to be validated, {unchecked} not validated"
    );
    for clients in CLIENTS {
        bars(&calls.all, clients);
    }
}

fn bars(all: &[Series], clients: usize) {
    let find = |through| find(all, through, clients);
    let (guard, envoy) = (find(Through::Guard), find(Through::Envoy(0)));
    let (one, two) = (find(Through::Envoy(1)), find(Through::Envoy(2)));
    let bar = |count: usize, is_met, ratio: f64, what: &str, bar: f64| {
        let who = format!("{count} ext-proc, {clients} clients");
        verdict(is_met, &format!("{who}: {ratio:.2} of {what} {bar} wanted"));
    };
    if let (Some(one), Some(guard)) = (one, guard) {
        let ratio = one.checkers() / guard.checkers();
        bar(1, ratio <= OF_GUARD, ratio, "the processor time of the guard, at most", OF_GUARD);
    }
    if let (Some(one), Some(two)) = (one, two) {
        let ratio = two.checkers() / one.checkers();
        let what = "the processor time of one, at most";
        bar(2, ratio <= OF_ONE_REPLICA, ratio, what, OF_ONE_REPLICA);
    }
    for (series, count) in [(one, 1), (two, 2)] {
        // The bar is for many clients: with one, the calls of Envoy are a matter of latency.
        if clients > 1
            && let (Some(series), Some(envoy)) = (series, envoy)
        {
            let ratio = series.per_second() / envoy.per_second();
            let what = "the calls of plain Envoy, at least";
            bar(count, ratio >= OF_ENVOY, ratio, what, OF_ENVOY);
        }
    }
}

fn find(all: &[Series], through: Through, clients: usize) -> Option<&Series> {
    all.iter().find(|one| one.through == through && one.clients == clients)
}
