//! What the structure checks find today and put up with.

use std::fs;

use anyhow::Context as _;

use crate::workspace;

/// The table; its lines may only go.
pub(crate) const TABLE: &str = "xtask/known.txt";

/// The lines of the table that start with `kind`, without it.
pub(crate) fn known(kind: &str) -> anyhow::Result<Vec<String>> {
    let table = fs::read_to_string(workspace::root().join(TABLE)).context(TABLE)?;
    let lines = table.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    Ok(lines.map(|line| line.trim().to_owned()).collect())
}
