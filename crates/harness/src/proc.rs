//! What Linux counts of a process. Elsewhere there is nothing to read.

use std::fs;

/// The microseconds of a tick in `/proc`, which Linux has always had a hundred of in a second.
const TICK: f64 = 10_000.0;

/// A number in the status of a process, such as `VmHWM` in KiB or `Threads`.
pub fn status(process: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The fields of `/proc/PID/stat` after the name, of which the first is the state.
pub fn stat(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may have spaces in it.
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

/// The microseconds that a process has run for, its threads together.
pub fn processor_time(process: u32) -> Option<f64> {
    let fields = stat(process)?;
    let ticks = fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?;
    Some(f64::from(ticks) * TICK)
}
