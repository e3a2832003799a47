//! The tables, whether the bars are met, and where the guard loses.

use super::cases::{BRIDGED, KEPT, PASSED, REPAIRING, VALIDATED};
use super::{Options, Row};
use crate::cases::{COPIER, Case, ENVOY, Kind, Missing, NGINX, Way};
use crate::peers;
use crate::stats::median;
use crate::table::Table;

/// The most that a case may take, in times what another one of the same way takes.
const BARS: [(Way, &str, &str, f64); 14] = [
    (Way::Http, KEPT, NGINX, 1.6),
    (Way::Http, VALIDATED, NGINX, 1.6),
    (Way::Http, PASSED, NGINX, 1.25),
    (Way::Stdio, PASSED, COPIER, 1.25),
    (Way::Http, VALIDATED, KEPT, 1.03),
    (Way::Http, REPAIRING, VALIDATED, 1.03),
    (Way::Bridge, REPAIRING, VALIDATED, 1.03),
    (Way::Stdio, REPAIRING, VALIDATED, 1.03),
    (Way::Http, BRIDGED[0], VALIDATED, 2.0),
    (Way::Http, BRIDGED[1], VALIDATED, 2.0),
    (Way::Bridge, BRIDGED[0], VALIDATED, 2.0),
    (Way::Bridge, BRIDGED[1], VALIDATED, 2.0),
    (Way::Stdio, BRIDGED[0], VALIDATED, 2.0),
    (Way::Stdio, BRIDGED[1], VALIDATED, 2.0),
];

/// Prints everything.
pub(super) fn print(options: &Options, cases: &[Case], rows: &[Row], missing: &Missing) {
    let report = Report { cases, rows };
    println!("cargo xtask bench cost: user and system time of the proxy alone for a tools/call,");
    println!("a result of 4 KB, loopback; the server answers from prepared text");
    let versions = peers::proxy_versions().join(", ");
    println!("toolbond {}; {versions}", env!("CARGO_PKG_VERSION"));
    println!(
        "medians of {} rounds of {} ms each, in turns; a ratio is the median of the ratios in each round.",
        options.rounds, options.milliseconds
    );
    println!(
        "Not the best: a busy machine may also make a call cheaper, because a proxy that waits"
    );
    println!("finds more to do when it runs. On stdio, connections are calls open at a time.");
    if cfg!(debug_assertions) {
        println!("This is a debug build: the figures say nothing.");
    }
    for &connections in &options.connections {
        println!("\n{connections} connections, microseconds for a call\n");
        report.table(connections);
    }
    println!();
    for (label, reason) in missing {
        println!("not measured: {label}: {reason}");
    }
    for &connections in &options.connections {
        report.bars(connections);
    }
    println!();
    for &connections in &options.connections {
        report.losses(connections);
    }
}

struct Report<'a> {
    cases: &'a [Case],
    rows: &'a [Row],
}

/// How many times as much one case takes as another: the median of the rounds, the least and the most.
struct Ratio {
    middle: f64,
    least: f64,
    most: f64,
}

impl Report<'_> {
    fn find(&self, way: Way, name: &str, connections: usize) -> Option<&Row> {
        self.rows.iter().find(|row| {
            let case = &self.cases[row.case];
            case.way == way && case.name == name && row.connections == connections
        })
    }

    /// What a row is held against: nginx for clients on HTTP, else the copier.
    fn yardstick(&self, row: &Row) -> Option<&Row> {
        match self.cases[row.case].way {
            Way::Stdio => self.find(Way::Stdio, COPIER, row.connections),
            Way::Http | Way::Bridge => self.find(Way::Http, NGINX, row.connections),
        }
    }

    fn table(&self, connections: usize) {
        let table = Table::start(
            "<14 way | <37 through | >8 median | >8 least | >8 most | >9 to nginx | >9 to copier",
        );
        for row in self.rows.iter().filter(|row| row.connections == connections) {
            let case = &self.cases[row.case];
            let ratio = self.yardstick(row).map(|other| format!("{:.2}", ratio(row, other).middle));
            let ratio = ratio.unwrap_or_else(|| "-".to_owned());
            let (nginx, copier) = match case.way {
                Way::Stdio => (String::new(), ratio),
                Way::Http | Way::Bridge => (ratio, String::new()),
            };
            let (least, most) = range(row.rounds.iter().copied());
            let times = [median(row.rounds.iter().copied()), least, most];
            let [middle, least, most] = times.map(|time| format!("{time:.1}"));
            let way = case.way.name();
            table.row(&[&way, &case.name, &middle, &least, &most, &nginx, &copier]);
        }
    }

    fn bars(&self, connections: usize) {
        for (way, name, other, bar) in BARS {
            let find = |name| self.find(way, name, connections);
            let (Some(row), Some(held)) = (find(name), find(other)) else { continue };
            let Ratio { middle, least, most } = ratio(row, held);
            let verdict = if middle <= bar { "met" } else { "missed" };
            println!(
                "{verdict}: {}, {connections} connections: {name}: {middle:.2} times {other} ({least:.2} to {most:.2} in rounds), at most {bar} wanted",
                way.name()
            );
        }
    }

    /// Prints what of the guard takes more than a peer.
    fn losses(&self, connections: usize) {
        for (peer, ways) in [
            ((Way::Http, NGINX), &[Way::Http, Way::Bridge][..]),
            ((Way::Http, ENVOY), &[Way::Http, Way::Bridge]),
            ((Way::Stdio, COPIER), &[Way::Stdio]),
        ] {
            let Some(held) = self.find(peer.0, peer.1, connections) else { continue };
            let rows = self.rows.iter().filter(|row| {
                let case = &self.cases[row.case];
                let is_ours = matches!(case.kind, Kind::Guard | Kind::Changing);
                is_ours && ways.contains(&case.way) && row.connections == connections
            });
            let ours: Vec<_> = rows.map(|row| (row, ratio(row, held).middle)).collect();
            let lost: Vec<_> = ours.iter().filter(|(_, ratio)| *ratio > 1.0).collect();
            let peer = peer.1;
            if !lost.is_empty() {
                println!("where we lose to {peer}, {connections} connections:");
            } else if !ours.is_empty() {
                println!("{connections} connections: the guard takes no more than {peer}");
            }
            for (row, ratio) in lost {
                println!("  {ratio:.2} times as much: {}", self.cases[row.case].label());
            }
        }
    }
}

fn ratio(row: &Row, other: &Row) -> Ratio {
    let ratios = || row.rounds.iter().zip(&other.rounds).map(|(one, other)| one / other);
    let (least, most) = range(ratios());
    Ratio { middle: median(ratios()), least, most }
}

fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max))
}
