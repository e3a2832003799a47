//! What Linux counts of a process. Elsewhere there is nothing to read.

use std::fs;

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
