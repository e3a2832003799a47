//! Progress on standard error: on a terminal one line that is replaced every second, elsewhere one line after a while.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use crate::terminal::printable;

/// The seconds after which a log says what is waited for.
const PATIENCE: u64 = 5;

/// Waits for `work`. Shows `text` and the seconds that it takes: on a terminal from the first one on, elsewhere once.
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
        if io::stderr().is_terminal() {
            if waited > 0 {
                let _ = write!(io::stderr(), "\r\x1b[K{text} … {waited} s");
            }
        } else if waited == PATIENCE {
            crate::terminal::print_note(&text);
        }
    }
}
