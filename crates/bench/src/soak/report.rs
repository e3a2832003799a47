//! What the clients did, what the guards hold, and whether that is what it should be.

use std::time::Duration;

use anyhow::bail;

use super::census::Census;
use super::tally::Tally;
use super::{Compared, Options};

/// Name, value and how much more than after warm-up is no growth.
struct Quantity {
    name: &'static str,
    value: fn(Census) -> u64,
    allowed: fn(u64) -> u64,
}

/// An allocator keeps some pages, a pool some threads and connections. Processes are counted exactly.
const QUANTITIES: [Quantity; 4] = [
    Quantity {
        name: "memory, MiB",
        value: |census| census.memory >> 10,
        allowed: |before| before + (before / 4).max(24),
    },
    Quantity { name: "threads", value: |census| census.threads, allowed: |before| before + 4 },
    Quantity { name: "open files", value: |census| census.files, allowed: |before| before + 12 },
    Quantity { name: "child processes", value: |census| census.children, allowed: |before| before },
];

/// Prints the counts and what the guards hold.
pub(super) fn print(options: &Options, tally: &Tally, compared: &[Compared]) {
    println!("cargo xtask bench soak --minutes {}: all transports at once\n", options.minutes);
    println!(
        "{:<28} {:<20} {:>9} {:>7} {:>9} {:>9}",
        "way", "clients", "done", "wrong", "p50 ms", "max ms"
    );
    for ((way, kind), count) in tally.counts() {
        let mut times = count.times;
        times.sort_unstable();
        let milliseconds = |time: Option<&Duration>| {
            time.map_or_else(String::new, |time| format!("{:.1}", time.as_secs_f64() * 1e3))
        };
        println!(
            "{way:<28} {:<20} {:>9} {:>7} {:>9} {:>9}",
            kind.name(),
            count.done,
            count.wrong,
            milliseconds(times.get(times.len() / 2)),
            milliseconds(times.last()),
        );
    }
    println!(
        "\n{:<18} {:<20} {:>14} {:>9} {:>11} {:>9}",
        "quantity", "guard", "after warm-up", "largest", "at the end", "allowed"
    );
    for quantity in QUANTITIES {
        for one in compared {
            let before = (quantity.value)(one.before);
            println!(
                "{:<18} {:<20} {before:>14} {:>9} {:>11} {:>9}",
                quantity.name,
                one.name,
                (quantity.value)(one.largest),
                (quantity.value)(one.after),
                (quantity.allowed)(before),
            );
        }
    }
    println!();
}

/// Prints what is wrong, and fails where anything is.
pub(super) fn verdict(tallies: &[&Tally], compared: &[Compared]) -> anyhow::Result<()> {
    let mut grown = 0;
    for quantity in QUANTITIES {
        for one in compared {
            let (before, after) = ((quantity.value)(one.before), (quantity.value)(one.after));
            if after > (quantity.allowed)(before) {
                grown += 1;
                println!("grew: {} of {}: {before} to {after}", quantity.name, one.name);
            }
        }
    }
    let gone = compared.iter().filter(|one| one.after.threads == 0);
    for one in gone {
        grown += 1;
        println!("ended: the guard of {}", one.name);
    }
    let counts = || tallies.iter().flat_map(|tally| tally.counts().into_values());
    let (done, wrong) = (
        counts().map(|count| count.done).sum::<usize>(),
        counts().map(|count| count.wrong).sum::<usize>(),
    );
    for example in tallies.iter().flat_map(|tally| tally.wrong()) {
        println!("wrong: {example}");
    }
    if grown + wrong > 0 {
        bail!("{wrong} of {done} were wrong, warm-up included; {grown} quantities grew");
    }
    println!("verdict: {done} done, warm-up included, none wrong, and nothing grew");
    Ok(())
}
