//! Runs hosts in other versions than the pinned ones.

use anyhow::{Context as _, bail};

use crate::command::{cargo, run as run_command};
use crate::node;

/// Run real hosts with servers and a scripted model, and compare with docs/hosts.md
#[derive(clap::Args)]
pub(crate) struct Hosts {
    /// Run this version of a host instead of the pinned one, such as `claude-code@latest`; prints the cells that differ
    #[arg(long = "try", value_name = "HOST@VERSION")]
    version: Option<String>,
}

impl Hosts {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        node::install()?;
        node::install_hosts().into_iter().collect::<anyhow::Result<()>>()?;
        let test = [
            "test",
            "--package",
            "toolbond-cli",
            "--test",
            "it",
            "--",
            "--ignored",
            "hosts::every",
        ];
        let mut tests = cargo(test);
        if let Some(wanted) = &self.version {
            let (host, version) = wanted.split_once('@').context("expected HOST@VERSION")?;
            let Some((_, package)) = node::HOSTS.iter().find(|(name, _)| *name == host) else {
                let names = node::HOSTS.map(|(name, _)| name).join(", ");
                bail!("no host `{host}`; expected one of {names}");
            };
            let packages = node::install_version(host, package, version)?;
            tests.env("TOOLBOND_HOST", format!("{host}={}", packages.display()));
        }
        run_command(tests)
    }
}
