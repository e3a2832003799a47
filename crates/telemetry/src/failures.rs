//! Failures of exporting, reported now and then.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Takes a line that says what is wrong with exporting.
pub type Report = Arc<dyn Fn(String) + Send + Sync>;

/// How long nothing is reported after a failure was.
const PAUSE: Duration = Duration::from_secs(300);

/// Reports the first failure, and later ones at most every five minutes.
pub(crate) struct Failures {
    report: Report,
    last: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Failures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Failures").finish_non_exhaustive()
    }
}

impl Failures {
    pub(crate) fn new(report: Report) -> Self {
        Self { report, last: Mutex::new(None) }
    }

    /// A request to `place` failed, for this reason.
    pub(crate) fn add(&self, place: &str, reason: &str) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        (self.report)(format!(
            "telemetry: could not export to {place}: {reason}; calls go on, and further failures are reported at most every five minutes"
        ));
    }

    pub(crate) fn report(&self, text: String) {
        (self.report)(text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Failures;

    #[test]
    fn reports_the_first_of_many() {
        let count = Arc::new(AtomicUsize::new(0));
        let reported = Arc::clone(&count);
        let failures = Failures::new(Arc::new(move |_| {
            reported.fetch_add(1, Ordering::Relaxed);
        }));
        for _ in 0..100 {
            failures.add("http://127.0.0.1:1/v1/traces", "connection refused");
        }
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
