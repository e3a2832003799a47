//! What `toolbond` says about its own checks, in its metrics.

use anyhow::Context as _;

use crate::guard::http::Connection;

/// The calls whose arguments and results were both found valid, by the process with its metrics on `port`.
pub(super) fn validated(port: u16) -> anyhow::Result<u64> {
    let mut connection = Connection::open(port, "/metrics", "2026-07-28")?;
    connection.request("GET")?;
    let text = String::from_utf8(connection.message().context("metrics")?)?;
    Ok(valid(&text, "arguments")?.min(valid(&text, "result")?))
}

fn valid(text: &str, side: &str) -> anyhow::Result<u64> {
    let (side, outcome) = (format!("side=\"{side}\""), "outcome=\"valid\"");
    let lines = text.lines().filter(|line| {
        line.starts_with("toolbond_validations_total{")
            && line.contains(&side)
            && line.contains(outcome)
    });
    let counts =
        lines.map(|line| Ok(line.rsplit(' ').next().context("no count")?.parse::<u64>()?));
    counts.sum()
}
