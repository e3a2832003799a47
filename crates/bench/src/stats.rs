//! Times, and what many of them come to.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::time::ClockId;
use nix::unistd::Pid;

/// Rounds of each way; the fastest counts, because everything that disturbs makes it slower.
const ROUNDS: usize = 40;

/// Nanoseconds for one call of each, measured in turns.
pub(crate) fn compare<A, B>(
    mut ours: impl FnMut() -> A,
    mut theirs: impl FnMut() -> B,
) -> (f64, f64) {
    let (batch_ours, batch_theirs) = (batch(&mut ours), batch(&mut theirs));
    let (mut best_ours, mut best_theirs) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        best_ours = best_ours.min(time(batch_ours, &mut ours));
        best_theirs = best_theirs.min(time(batch_theirs, &mut theirs));
    }
    (best_ours, best_theirs)
}

/// So many calls that a round takes about two milliseconds.
fn batch<T>(work: &mut impl FnMut() -> T) -> u32 {
    let nanoseconds = time(1, work).min(time(3, work)).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let batch = (2e6 / nanoseconds).clamp(1.0, 1e6) as u32;
    batch
}

fn time<T>(batch: u32, work: &mut impl FnMut() -> T) -> f64 {
    let started = Instant::now();
    for _ in 0..batch {
        black_box(work());
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(batch)
}

/// The microseconds that a process has run for: user and system time of its threads, also of those that ended. Other
/// processes lengthen a round, but not this.
pub(crate) fn processor_time(process: u32) -> anyhow::Result<f64> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process.try_into()?));
    let time = clock.and_then(ClockId::now).context("cannot read the time of a process")?;
    Ok(Duration::from(time).as_secs_f64() * 1e6)
}

/// A count as a number to divide by.
#[expect(clippy::cast_precision_loss, reason = "counts of one run")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// The geometric mean of `ratios`.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (sum / float(ratios.len().max(1))).exp()
}

/// The middle of `values`.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How long answers took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(pub(crate) Vec<Duration>);

impl Times {
    /// The microseconds that so many percent of the answers took no longer than.
    pub(crate) fn micros(&self, percent: usize) -> Option<f64> {
        let mut times = self.0.clone();
        times.sort_unstable();
        let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(at).map(|time| time.as_secs_f64() * 1e6)
    }

    /// The same in milliseconds, as text; `-` where nothing was answered.
    pub(crate) fn millis(&self, percent: usize) -> String {
        self.micros(percent).map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time / 1e3))
    }
}
