//! What the clients did, what the guards hold, and whether that is what it should be.

use anyhow::bail;

use super::census::{Census, QUANTITIES};
use super::tally::Counts;
use crate::table::Table;

/// The same guard at three moments.
pub(super) struct Compared {
    pub(super) name: &'static str,
    pub(super) before: Census,
    pub(super) largest: Census,
    pub(super) after: Census,
}

/// Prints the counts and what the guards hold.
pub(super) fn print(minutes: f64, counts: &Counts, compared: &[Compared]) {
    println!("cargo xtask bench soak --minutes {minutes}: all transports at once\n");
    let table = Table::start("<28 way | <20 clients | >9 done | >7 wrong | >9 p50 ms | >9 max ms");
    for ((way, kind), count) in &counts.counts {
        let [p50, max] = [50, 100].map(|percent| count.times.millis(percent));
        table.row(&[way, &kind.name(), &count.done, &count.wrong, &p50, &max]);
    }
    println!();
    let table = Table::start(
        "<18 quantity | <20 guard | >14 after warm-up | >9 largest | >11 at the end | >9 allowed",
    );
    for (at, (quantity, allowed)) in QUANTITIES.into_iter().enumerate() {
        for one in compared {
            let [before, largest, after] = [one.before, one.largest, one.after].map(|all| all[at]);
            table.row(&[&quantity, &one.name, &before, &largest, &after, &allowed(before)]);
        }
    }
    println!();
}

/// Prints what is wrong, and fails where anything is.
pub(super) fn verdict(all: &[&Counts], compared: &[Compared]) -> anyhow::Result<()> {
    let mut grown = 0;
    for one in compared {
        for (at, (quantity, allowed)) in QUANTITIES.into_iter().enumerate() {
            let (before, after) = (one.before[at], one.after[at]);
            if after > allowed(before) {
                grown += 1;
                println!("grew: {quantity} of {}: {before} to {after}", one.name);
            }
        }
        if one.after == Census::default() {
            grown += 1;
            println!("ended: the guard of {}", one.name);
        }
    }
    let counts = || all.iter().flat_map(|counts| counts.counts.values());
    let done: usize = counts().map(|count| count.done).sum();
    let wrong: usize = counts().map(|count| count.wrong).sum();
    for example in all.iter().flat_map(|counts| &counts.wrong) {
        println!("wrong: {example}");
    }
    if grown + wrong > 0 {
        bail!("{wrong} of {done} were wrong, warm-up included; {grown} quantities grew");
    }
    println!("verdict: {done} done, warm-up included, none wrong, and nothing grew");
    Ok(())
}
