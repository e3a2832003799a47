//! The first `tools/list` of a fresh process, direct and through the guard, with the lists of the corpus.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use toolbond_harness::process::{command, toolbond};
use toolbond_harness::{corpus, mcp};

use crate::calls::Era;
use crate::lines::Lines;
use crate::serve;
use crate::stats::{float, median};
use crate::table::Table;

/// What the guard may add to the first list: milliseconds, and milliseconds for each tool.
const BAR: (f64, f64) = (5.0, 0.1);

/// How many lists are printed: the largest, and those that are furthest from the bar.
const SHOWN: usize = 8;

/// What came of one list, in milliseconds.
struct Row {
    name: String,
    tools: usize,
    direct: f64,
    first: f64,
    again: f64,
}

impl Row {
    fn extra(&self) -> f64 {
        self.first - self.direct
    }

    /// How far the guard is over the bar.
    fn over(&self) -> f64 {
        self.extra() - BAR.0 - BAR.1 * float(self.tools)
    }
}

/// Measures the list of each server of the corpus, `rounds` times direct and guarded in turns, and prints what it comes
/// to. The best counts, because everything that disturbs makes it slower.
pub(super) fn run(rounds: usize) -> anyhow::Result<()> {
    let files = match corpus::files() {
        Ok(files) => files,
        Err(reason) => {
            println!("cargo xtask bench guard --only lists: skipped, {reason}");
            return Ok(());
        }
    };
    let mut rows = Vec::new();
    for file in files {
        let server = file.read();
        let row = measure(&server.name, server.tools().len(), rounds);
        rows.push(row.with_context(|| file.name.clone())?);
    }
    print(rows, rounds);
    Ok(())
}

fn measure(list: &str, tools: usize, rounds: usize) -> anyhow::Result<Row> {
    let name = list.to_owned();
    let mut row = Row { name, tools, direct: f64::MAX, first: f64::MAX, again: f64::MAX };
    let server = serve::words(&["plain", "stdio", "--list", list])?;
    for _ in 0..rounds {
        let [direct, _] = ask_twice(command(&server))?;
        let mut guard = toolbond(&["guard", "--"]);
        guard.args(&server);
        let [first, again] = ask_twice(guard)?;
        row.direct = row.direct.min(direct);
        row.first = row.first.min(first);
        row.again = row.again.min(again);
    }
    Ok(row)
}

/// Starts a process and asks it for its list twice: how many milliseconds each answer takes after the handshake.
fn ask_twice(command: Command) -> anyhow::Result<[f64; 2]> {
    let mut lines = Lines::start(command)?;
    lines.shake_hands(Era::Legacy.hello())?;
    let mut ask = |id: usize| {
        let start = Instant::now();
        let text = lines.ask(&mcp::request(id, "tools/list"))?;
        let taken = start.elapsed();
        let is_list = memchr::memmem::find(&text, br#""tools":["#).is_some();
        ensure!(is_list, "expected a tool list, found {} bytes", text.len());
        anyhow::Ok(taken.as_secs_f64() * 1e3)
    };
    Ok([ask(1)?, ask(2)?])
}

fn print(mut rows: Vec<Row>, rounds: usize) {
    println!("cargo xtask bench guard --only lists: `tools/list` of a fresh process over stdio");
    println!("best of {rounds}, in turns; {} lists of the corpus\n", rows.len());
    let table = Table::start(
        "<44 list | >5 tools | >9 direct ms | >9 first ms | >9 again ms | >9 extra ms | >11 µs per tool",
    );
    let line = |row: &Row| line(&table, row);
    let middle = |rows: &[Row], value: fn(&Row) -> f64| median(rows.iter().map(value));
    rows.sort_by_key(|row| std::cmp::Reverse(row.tools));
    rows.iter().take(SHOWN).for_each(line);
    let by_size = rows.get(rows.len() / 2).map_or(0, |row| row.tools);
    println!("  furthest over the bar, or least below:");
    rows.sort_by(|one, other| other.over().total_cmp(&one.over()));
    rows.iter().take(SHOWN).for_each(line);
    let all = Row {
        name: "median of each column".to_owned(),
        tools: by_size,
        direct: middle(&rows, |row| row.direct),
        first: middle(&rows, |row| row.first),
        again: middle(&rows, |row| row.again),
    };
    line(&all);
    let (fixed, each) = BAR;
    let over = middle(&rows, Row::over);
    println!(
        "\nbar: {fixed} ms and {each} ms a tool over direct at the median: {}, by {:.2} ms",
        if over <= 0.0 { "met" } else { "missed" },
        over.abs()
    );
    let missed = rows.iter().filter(|row| row.over() > 0.0).count();
    println!("{missed} of {} lists take longer than that", rows.len());
    println!(
        "a list that was judged before takes {:+.2} ms over direct at the median, {:+.2} at worst",
        middle(&rows, |row| row.again - row.direct),
        rows.iter().map(|row| row.again - row.direct).fold(f64::MIN, f64::max)
    );
}

fn line(table: &Table, row: &Row) {
    let name: String = row.name.chars().take(44).collect();
    let each = row.extra() * 1e3 / float(row.tools.max(1));
    let times = [row.direct, row.first, row.again, row.extra()];
    let [direct, first, again, extra] = times.map(|time| format!("{time:.2}"));
    table.row(&[&name, &row.tools, &direct, &first, &again, &extra, &format_args!("{each:.0}")]);
}
