//! Writes what the converters of the targets do.

use crate::command::{cargo, run as run_command};
use crate::{node, python};

/// Installs the converters, runs them over the cases and the corpus, and writes `docs/targets.md` and
/// `docs/converters.md`.
pub(crate) fn run() -> anyhow::Result<()> {
    node::install()?;
    python::install("mcp2")?;
    // One at a time: they write parts of one file.
    for part in ["views/", "docs/", "agreement/", "survive/corpus"] {
        let mut tests =
            cargo(["test", "--package", "toolbond-targets", "--test", "it", "--", part]);
        tests.env("TOOLBOND_TARGETS", "write").env("TOOLBOND_CONVERTERS", "all");
        run_command(tests)?;
    }
    Ok(())
}
