//! Asking before something is done.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::bail;

use crate::terminal::printable;

/// Writes `lines` and asks `question`. Fails with `otherwise` where there is nobody to ask.
pub(crate) fn confirm(
    lines: impl IntoIterator<Item = String>,
    question: &str,
    otherwise: &'static str,
) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!(otherwise);
    }
    let mut err = anstream::stderr().lock();
    for line in lines {
        writeln!(err, "{}", printable(&line))?;
    }
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes)))
}
