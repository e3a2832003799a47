//! Waiting for what has to happen, however busy the machine is.

use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine. A test that waits this long has failed.
pub const HANG: Duration = Duration::from_secs(60);

/// Waits until `is_so`; `what` says what was waited for in vain.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(what, || is_so().then_some(()));
}

/// Waits until `find` finds something, and returns it.
#[track_caller]
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < HANG, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
