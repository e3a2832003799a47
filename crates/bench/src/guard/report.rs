//! The table, and what it comes to.

use super::cases::{ERAS, REPAIRS};
use super::{CLIENTS, Options, Row};
use crate::cases::{Case, Kind, Missing, Way};
use crate::peers;
use crate::table::Table;

/// What the guard may add to a call of one client.
const BAR: f64 = 60.0;

/// Prints the table, the memory and where the guard loses.
pub(super) fn print(
    options: &Options,
    cases: &[Case],
    rows: &[Row],
    memory: &[Vec<u64>],
    missing: &Missing,
) {
    let report = Report { cases, rows };
    println!("cargo xtask bench guard: tools/call, an answer with an array of 20 items, loopback");
    println!(
        "(for peers that read messages the array is in an object: not all of them carry arrays)"
    );
    let versions = [peers::proxy_versions(), peers::versions()].concat().join(", ");
    println!("toolbond {}, server rmcp 3.8.0; {versions}", env!("CARGO_PKG_VERSION"));
    println!("best of {} rounds of {} ms each, in turns\n", options.rounds, options.milliseconds);
    let table = Table::start(
        "<14 way | <31 through | >7 clients | >9 p50 µs | >9 p99 µs | >9 calls/s | >10 added µs | >7 ratio",
    );
    for clients in CLIENTS {
        for row in rows.iter().filter(|row| row.clients == clients) {
            report.line(&table, row);
        }
        println!();
    }
    println!("memory of what stands in between, KiB after each round:");
    for (case, memory) in cases.iter().zip(memory).filter(|(case, _)| case.kind != Kind::Direct) {
        let memory: Vec<_> = memory.iter().map(u64::to_string).collect();
        println!("  {:<46} {}", case.label(), memory.join("  "));
    }
    for (label, reason) in missing {
        println!("not measured: {label}: {reason}");
    }
    println!();
    report.changes();
    report.bars();
}

struct Report<'a> {
    cases: &'a [Case],
    rows: &'a [Row],
}

impl Report<'_> {
    fn line(&self, table: &Table, row: &Row) {
        let case = &self.cases[row.case];
        let (added, ratio) = match (case.kind, self.added(row)) {
            (Kind::Direct, _) | (_, None) => (String::new(), String::new()),
            (_, Some((added, ratio))) => (format!("{added:.0}"), format!("{ratio:.2}")),
        };
        let numbers = [row.best.p50, row.best.p99, row.best.per_second];
        let [p50, p99, per_second] = numbers.map(|number| format!("{number:.0}"));
        let name = case.way.name();
        table.row(&[&name, &case.name, &row.clients, &p50, &p99, &per_second, &added, &ratio]);
    }

    /// The row of another case with as many clients.
    fn find(&self, row: &Row, is_it: impl Fn(&Case) -> bool) -> Option<&Row> {
        let mut rows = self.rows.iter().filter(|other| other.clients == row.clients);
        rows.find(|other| is_it(&self.cases[other.case]))
    }

    /// What a case adds to the call of a client that asks the server itself: microseconds, and how
    /// many times as long. A bridge is held against HTTP, which its clients speak.
    fn added(&self, row: &Row) -> Option<(f64, f64)> {
        let is_stdio = self.cases[row.case].way == Way::Stdio;
        let direct = self
            .find(row, |case| case.kind == Kind::Direct && (case.way == Way::Stdio) == is_stdio)?;
        let (direct, here) = (direct.best.p50, row.best.p50);
        Some((here - direct, here / direct))
    }

    /// What a process that only copies adds on the way of a case.
    fn copier(&self, row: &Row) -> Option<(f64, f64)> {
        let way = self.cases[row.case].way;
        self.added(self.find(row, |case| case.kind == Kind::Copier && case.way == way)?)
    }

    /// What a repair and a bridge between eras cost beside a call without them, and what valid calls pay for repairs.
    fn changes(&self) {
        for way in [Way::Http, Way::Stdio] {
            let p50 = |name: &str| {
                let row = self.rows.iter().find(|row| {
                    let case = &self.cases[row.case];
                    row.clients == 1 && case.way == way && case.name == name
                });
                row.map(|row| row.best.p50)
            };
            let name = way.name();
            if let [Some(enforce), Some(repair), Some(repaired)] = REPAIRS.map(p50) {
                println!(
                    "{name}, 1 client: a valid call takes {:+.1} µs under `repair` beside `enforce`; a repaired call takes {:+.1} µs beside a valid one",
                    repair - enforce,
                    repaired - repair
                );
            }
            if let [Some(plain), Some(bridged)] = ERAS.map(p50) {
                println!(
                    "{name}, 1 client: a call from 2025-11-25 to a server of 2026-07-28 takes {:+.1} µs ({:.2} times as long) beside one to a server of both",
                    bridged - plain,
                    bridged / plain
                );
            }
        }
    }

    fn bars(&self) {
        let mut lost = Vec::new();
        for row in self.rows.iter().filter(|row| self.cases[row.case].kind == Kind::Guard) {
            let Some((added, _)) = self.added(row) else { continue };
            let case = &self.cases[row.case];
            if row.clients == 1 && added > BAR {
                let floor = self.copier(row).map_or(f64::NAN, |(floor, _)| floor);
                lost.push(format!(
                    "{} adds {added:.0} µs with 1 client, more than {BAR} µs; copying bytes adds {floor:.0}",
                    case.label()
                ));
            }
            for peer in self.rows.iter().filter(|peer| peer.clients == row.clients) {
                let other = &self.cases[peer.case];
                let stdio = |way| way == Way::Stdio;
                if other.kind != Kind::Peer || stdio(other.way) != stdio(case.way) {
                    continue;
                }
                if self.added(peer).is_some_and(|(theirs, _)| theirs <= added) {
                    lost.push(format!(
                        "{} adds {added:.0} µs with {} clients, {} no more",
                        case.label(),
                        row.clients,
                        other.label()
                    ));
                }
            }
        }
        let guarded = self.rows.iter().any(|row| self.cases[row.case].kind == Kind::Guard);
        if lost.is_empty() && guarded {
            println!(
                "the guard adds at most {BAR} µs with 1 client, and less than every peer measured"
            );
        }
        for line in lost {
            println!("where we lose: {line}");
        }
    }
}
