//! The two tables, and whether the bars are met.

use super::{Behind, CLIENTS, Missing, ON_HTTP, ON_STDIO, ROUNDS, Series, Through};
use crate::guard::peers::Installed;

/// The least share of the calls of nginx that the validating guard has to carry.
const OF_NGINX: f64 = 0.9;

/// The least share of the calls of Envoy.
const OF_ENVOY: f64 = 1.0;

/// How many times as much as a byte copier the validating guard may add on stdio, with one call open.
const OF_COPIER: f64 = 1.3;

/// Microseconds that say nothing: rounds differ by as much.
const NOISE: f64 = 10.0;

impl Series {
    fn calls(&self) -> Vec<f64> {
        let mut calls: Vec<_> = self.rounds.iter().map(|round| round.per_second).collect();
        calls.sort_by(f64::total_cmp);
        calls
    }

    /// Of the best round: what disturbs only makes slower.
    fn best(&self) -> f64 {
        self.calls().last().copied().unwrap_or(f64::NAN)
    }

    fn median(&self) -> f64 {
        let calls = self.calls();
        calls.get(calls.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// In microseconds, of the best round.
    fn p50(&self) -> f64 {
        let times = self.rounds.iter().map(|round| round.p50.as_secs_f64() * 1e6);
        times.fold(f64::INFINITY, f64::min)
    }

    /// Processor time of a call, in microseconds, of the best round.
    fn processor(&self) -> String {
        let least = self.processor.iter().copied().reduce(f64::min);
        least.map(|micros| format!("{micros:.0}")).unwrap_or_default()
    }

    fn p99(&self) -> f64 {
        let times = self.rounds.iter().map(|round| round.p99.as_secs_f64() * 1e6);
        times.fold(f64::INFINITY, f64::min)
    }
}

fn find(all: &[Series], through: Through, clients: usize) -> Option<&Series> {
    all.iter().find(|one| one.through == through && one.clients == clients)
}

/// Prints what all tables have in common.
pub(super) fn head(no_wrk: Option<&anyhow::Error>) {
    println!("cargo xtask bench guard --only proxies: tools/call, an array of 20 items, loopback");
    let versions = Installed::new().proxy_versions().join(", ");
    println!("toolbond {}; {versions}", env!("CARGO_PKG_VERSION"));
    println!(
        "{ROUNDS} rounds in turns; p50 and p99 of the best round, calls a second of the best and of"
    );
    println!("the median one; ratios are calls a second, best to best and median to median");
    println!("CPU is the processor time of the proxy for a call, of the best round");
    if let Some(reason) = no_wrk {
        println!("measured with the bench's own clients, because there is no wrk: {reason:#}");
    }
}

/// Prints what came of the calls on HTTP.
pub(super) fn http(behind: Behind, all: &[Series], missing: &Missing) {
    println!("\nHTTP, in front of {}\n", behind.name());
    println!(
        "{:<24} {:>7} {:>8} {:>8} {:>9} {:>7} {:>9} {:>9} {:>13} {:>13}",
        "through",
        "clients",
        "p50 µs",
        "p99 µs",
        "added µs",
        "CPU µs",
        "calls/s",
        "median",
        "to nginx",
        "to Envoy"
    );
    for clients in CLIENTS {
        for through in ON_HTTP {
            let Some(series) = find(all, through, clients) else { continue };
            let direct = find(all, Through::Nothing, clients);
            let added = direct.filter(|_| through != Through::Nothing);
            let added = added.map(|direct| format!("{:.0}", series.p50() - direct.p50()));
            println!(
                "{:<24} {clients:>7} {:>8.0} {:>8.0} {:>9} {:>7} {:>9.0} {:>9.0} {:>13} {:>13}",
                through.name(),
                series.p50(),
                series.p99(),
                added.unwrap_or_default(),
                series.processor(),
                series.best(),
                series.median(),
                ratios(series, find(all, Through::Nginx, clients)),
                ratios(series, find(all, Through::Envoy, clients)),
            );
        }
        println!();
    }
    for (name, reason) in missing {
        println!("not measured: {name}: {reason}");
    }
    for (peer, bar) in [(Through::Nginx, OF_NGINX), (Through::Envoy, OF_ENVOY)] {
        for clients in CLIENTS {
            let guard = find(all, Through::GuardValidating, clients);
            let (Some(guard), Some(peer)) = (guard, find(all, peer, clients)) else { continue };
            let ratio = guard.best() / peer.best();
            let verdict = if ratio >= bar { "met" } else { "where we lose" };
            println!(
                "{verdict}: validated, {clients} clients: {ratio:.2} of the calls of {}, at least {bar} wanted",
                peer.through.name()
            );
        }
    }
}

fn ratios(series: &Series, other: Option<&Series>) -> String {
    let Some(other) = other else { return "-".to_owned() };
    format!("{:.2} / {:.2}", series.best() / other.best(), series.median() / other.median())
}

/// Prints what came of the calls on standard input and output.
pub(super) fn stdio(all: &[Series]) {
    println!(
        "\n{:<24} {:>7} {:>8} {:>8} {:>9} {:>7} {:>9} {:>9} {:>13}",
        "stdio, through",
        "open",
        "p50 µs",
        "p99 µs",
        "added µs",
        "CPU µs",
        "calls/s",
        "median",
        "added/copier"
    );
    for clients in CLIENTS {
        for through in ON_STDIO {
            let Some(series) = find(all, through, clients) else { continue };
            let added = added(all, series).filter(|_| through != Through::Nothing);
            let share = share(all, series).filter(|_| through != Through::Nothing);
            println!(
                "{:<24} {clients:>7} {:>8.0} {:>8.0} {:>9} {:>7} {:>9.0} {:>9.0} {:>13}",
                through.name(),
                series.p50(),
                series.p99(),
                added.map(|added| format!("{added:.0}")).unwrap_or_default(),
                series.processor(),
                series.best(),
                series.median(),
                share.map(|share| format!("{share:.2}")).unwrap_or_default(),
            );
        }
        println!();
    }
    let guard = find(all, Through::GuardValidating, 1);
    if let Some(share) = guard.and_then(|guard| share(all, guard)) {
        let verdict = if share <= OF_COPIER { "met" } else { "where we lose" };
        println!(
            "{verdict}: validated, 1 call open: adds {share:.2} times what a byte copier adds, at most {OF_COPIER} wanted"
        );
    } else {
        println!(
            "not decided: with 1 call open the byte copier adds less than {NOISE} µs, so there is no ratio to it"
        );
    }
}

/// What a subject adds to the median time of a call, in microseconds.
fn added(all: &[Series], series: &Series) -> Option<f64> {
    let direct = find(all, Through::Nothing, series.clients)?;
    Some(series.p50() - direct.p50())
}

/// How many times as much a subject adds as a byte copier does; `None` where the copier adds too little to tell.
fn share(all: &[Series], series: &Series) -> Option<f64> {
    let copier = find(all, Through::Copier, series.clients)?;
    let base = added(all, copier).filter(|base| *base >= NOISE)?;
    Some(added(all, series)? / base)
}
