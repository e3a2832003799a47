//! The rounds of one subject with one number of clients, and their medians.

use super::subject::{Processor, Through};
use crate::guard::load::Measured;

/// One round.
pub(super) struct Round {
    pub(super) measured: Measured,
    /// All calls that were answered, those before the measurement included.
    pub(super) calls: usize,
    /// For each call.
    pub(super) processor: Processor,
}

/// Every round of one subject with one number of clients.
pub(super) struct Series {
    pub(super) through: Through,
    pub(super) clients: usize,
    pub(super) rounds: Vec<Round>,
}

impl Series {
    fn median(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(value).collect())
    }

    /// In microseconds.
    pub(super) fn p50(&self) -> f64 {
        self.median(|round| round.measured.p50.as_secs_f64() * 1e6)
    }

    /// In microseconds.
    pub(super) fn p99(&self) -> f64 {
        self.median(|round| round.measured.p99.as_secs_f64() * 1e6)
    }

    pub(super) fn per_second(&self) -> f64 {
        self.median(|round| round.measured.per_second)
    }

    /// Processor time of Envoy or nginx for a call, in microseconds.
    pub(super) fn proxy(&self) -> f64 {
        self.median(|round| round.processor.proxy)
    }

    /// Processor time of ours for a call, in microseconds.
    pub(super) fn checkers(&self) -> f64 {
        self.median(|round| round.processor.checkers)
    }

    /// Both together.
    pub(super) fn together(&self) -> f64 {
        self.median(|round| round.processor.proxy + round.processor.checkers)
    }
}

/// The middle of `values`.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
