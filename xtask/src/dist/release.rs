//! What is released: the version and the words of the workspace, and the systems.

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::command::{cargo, command, output};

/// What packages say, from the manifest of the command.
pub(super) struct Release {
    pub(super) version: String,
    pub(super) description: String,
    pub(super) license: String,
    pub(super) repository: String,
    pub(super) system: &'static System,
}

/// A system that packages are made for.
#[derive(PartialEq, Eq)]
pub(super) struct System {
    /// As Rust names it.
    pub(super) target: &'static str,
    /// As Node names it.
    pub(super) platform: &'static str,
    pub(super) arch: &'static str,
}

/// Each has a line in `.github/workflows/release.yml`.
pub(super) const SYSTEMS: [System; 6] = [
    System { target: "x86_64-unknown-linux-gnu", platform: "linux", arch: "x64" },
    System { target: "aarch64-unknown-linux-gnu", platform: "linux", arch: "arm64" },
    System { target: "x86_64-apple-darwin", platform: "darwin", arch: "x64" },
    System { target: "aarch64-apple-darwin", platform: "darwin", arch: "arm64" },
    System { target: "x86_64-pc-windows-msvc", platform: "win32", arch: "x64" },
    System { target: "aarch64-pc-windows-msvc", platform: "win32", arch: "arm64" },
];

impl Release {
    pub(super) fn read() -> anyhow::Result<Self> {
        let metadata = output(cargo(["metadata", "--format-version", "1", "--no-deps"]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|it| it["name"] == "toolbond-cli").context("toolbond-cli")?;
        let text = |key: &str| {
            let text = package[key].as_str();
            text.map(str::to_owned).with_context(|| format!("toolbond-cli has no {key}"))
        };
        let compiler = output(command("rustc", ["-vV"]))?;
        let host = compiler.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc -vV names no host")?;
        let Some(system) = SYSTEMS.iter().find(|system| system.target == host) else {
            bail!("there are no packages for {host}");
        };
        Ok(Self {
            version: text("version")?,
            description: text("description")?,
            license: text("license")?,
            repository: text("repository")?,
            system,
        })
    }
}

impl System {
    /// The file name of a program.
    pub(super) fn program(&self) -> &'static str {
        if self.platform == "win32" { "toolbond.exe" } else { "toolbond" }
    }

    pub(super) fn npm_package(&self) -> String {
        format!("@toolbond/{}-{}", self.platform, self.arch)
    }
}
