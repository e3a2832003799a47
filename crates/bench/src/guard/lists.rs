//! The first `tools/list` of a fresh process, direct and through the guard, with the lists of the corpus.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use toolbond_harness::corpus;

use super::lines::Lines;
use super::load::{INITIALIZED, Speaks};
use super::toolbond;

/// Each list is asked for so often, direct and guarded in turns; the best counts, because everything that disturbs makes
/// it slower.
const ROUNDS: usize = 3;

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
        self.extra() - BAR.0 - BAR.1 * count(self.tools)
    }
}

/// Measures the list of each server of the corpus and prints what it comes to.
pub(crate) fn run() -> anyhow::Result<()> {
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
        let row = measure(&server.name, server.tools().len());
        rows.push(row.with_context(|| file.name.clone())?);
    }
    print(rows);
    Ok(())
}

fn measure(list: &str, tools: usize) -> anyhow::Result<Row> {
    let name = list.to_owned();
    let mut row = Row { name, tools, direct: f64::MAX, first: f64::MAX, again: f64::MAX };
    for _ in 0..ROUNDS {
        let bench = std::env::current_exe()?;
        let mut server = Command::new(&bench);
        server.args(["plain-server", "--stdio", "--list", list]);
        let [direct, _] = ask_twice(server)?;
        let mut guard = toolbond()?;
        guard.arg("--").arg(&bench).args(["plain-server", "--stdio", "--list", list]);
        let [first, again] = ask_twice(guard)?;
        row.direct = row.direct.min(direct);
        row.first = row.first.min(first);
        row.again = row.again.min(again);
    }
    Ok(row)
}

/// Starts a process and asks it for its list twice: how long each answer takes after the handshake.
fn ask_twice(command: Command) -> anyhow::Result<[f64; 2]> {
    let mut lines = Lines::start(command)?;
    lines.send(&Speaks::Legacy.hello())?;
    lines.answer().context("initialize")?;
    lines.send(INITIALIZED)?;
    let mut ask = |id: usize| {
        let start = Instant::now();
        lines.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#))?;
        let (answered, text) = lines.answer()?;
        let taken = start.elapsed();
        if answered != id || memchr::memmem::find(&text, br#""tools":["#).is_none() {
            bail!("expected a tool list, found {} bytes", text.len());
        }
        anyhow::Ok(millis(taken))
    };
    Ok([ask(1)?, ask(2)?])
}

fn print(mut rows: Vec<Row>) {
    println!("cargo xtask bench guard --only lists: `tools/list` of a fresh process over stdio");
    println!("best of {ROUNDS}, in turns; {} lists of the corpus\n", rows.len());
    println!(
        "{:<44} {:>5} {:>9} {:>9} {:>9} {:>9} {:>11}",
        "list", "tools", "direct ms", "first ms", "again ms", "extra ms", "µs per tool"
    );
    rows.sort_by_key(|row| std::cmp::Reverse(row.tools));
    rows.iter().take(SHOWN).for_each(line);
    let by_size = rows.get(rows.len() / 2).map_or(0, |row| row.tools);
    println!("  furthest over the bar, or least below:");
    rows.sort_by(|one, other| other.over().total_cmp(&one.over()));
    rows.iter().take(SHOWN).for_each(line);
    let all = Row {
        name: "median of each column".to_owned(),
        tools: by_size,
        direct: median(&rows, |row| row.direct),
        first: median(&rows, |row| row.first),
        again: median(&rows, |row| row.again),
    };
    line(&all);
    let (fixed, each) = BAR;
    let over = median(&rows, Row::over);
    println!(
        "\nbar: {fixed} ms and {each} ms a tool over direct at the median: {}, by {:.2} ms",
        if over <= 0.0 { "met" } else { "missed" },
        over.abs()
    );
    let missed = rows.iter().filter(|row| row.over() > 0.0).count();
    println!("{missed} of {} lists take longer than that", rows.len());
    println!(
        "a list that was judged before takes {:+.2} ms over direct at the median, {:+.2} at worst",
        median(&rows, |row| row.again - row.direct),
        rows.iter().map(|row| row.again - row.direct).fold(f64::MIN, f64::max)
    );
}

fn line(row: &Row) {
    println!(
        "{:<44} {:>5} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>11.0}",
        row.name.chars().take(44).collect::<String>(),
        row.tools,
        row.direct,
        row.first,
        row.again,
        row.extra(),
        row.extra() * 1e3 / count(row.tools.max(1)),
    );
}

fn median(rows: &[Row], value: impl Fn(&Row) -> f64) -> f64 {
    let mut values: Vec<_> = rows.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "a count of tools")]
fn count(tools: usize) -> f64 {
    tools as f64
}
