//! Timing two ways to do the same, in turns.

use std::{hint::black_box, time::Instant};

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

/// The geometric mean of `ratios`.
pub(crate) fn geometric_mean(ratios: &[f64]) -> f64 {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    #[expect(clippy::cast_precision_loss, reason = "a handful of cases")]
    let count = ratios.len().max(1) as f64;
    (sum / count).exp()
}
