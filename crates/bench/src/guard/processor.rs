//! The processor time of processes, which Linux counts.

/// The microseconds of a tick in `/proc`, which Linux has always had a hundred of in a second.
const TICK: f64 = 10_000.0;

/// The microseconds that a process has run for, its threads together; `None` where there is no such process.
pub(crate) fn micros(process: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may have spaces in it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u32 = fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?;
    Some(f64::from(ticks) * TICK)
}
