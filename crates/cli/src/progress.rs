//! Progress on a terminal: one line on standard error that is replaced every second.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use crate::terminal::printable;

/// Waits for `work`. Shows `text` and the seconds that it takes, from the first one on.
pub(crate) async fn with_progress<T>(text: &str, work: impl Future<Output = T>) -> T {
    tokio::select! {
        done = work => {
            clear();
            done
        }
        () = show(text) => unreachable!("progress does not end"),
    }
}

/// Removes the line, for other output.
pub(crate) fn clear() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

async fn show(text: &str) {
    let text = printable(text).into_owned();
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    for waited in 0.. {
        seconds.tick().await;
        if io::stderr().is_terminal() && waited > 0 {
            let _ = write!(io::stderr(), "\r\x1b[K{text} … {waited} s");
        }
    }
}
