//! Node packages that the tests run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::command::{self, command};
use crate::workspace;

/// Installs what `peers/package-lock.json` names into `target/testkit/peers/node_modules`, unless that has been done.
pub(crate) fn install() -> anyhow::Result<()> {
    install_set("peers", "peers").map(drop)
}

/// The folders of `peers/hosts/packages`: hosts, by the names of their targets, and their packages; and a server.
pub(crate) const HOSTS: [(&str, &str); 4] = [
    ("claude-code", "@anthropic-ai/claude-code"),
    ("codex", "@openai/codex"),
    ("gemini-cli", "@google/gemini-cli"),
    ("sep-server", "@olaservo/mcp-server-everything-sep834"),
];

/// Installs each of [`HOSTS`] into a folder of `target/testkit/hosts`, unless that has been done. They are large, and one that
/// fails does not keep the others from being installed.
pub(crate) fn install_hosts() -> Vec<anyhow::Result<()>> {
    let install = |name: &str| {
        let installed =
            install_set(&format!("peers/hosts/packages/{name}"), &format!("hosts/{name}"))?;
        if name == "sep-server" && installed {
            // Two files of the SDK of this server are no JSON as published.
            let sdk = workspace::testkit()
                .join("hosts/sep-server/node_modules/@modelcontextprotocol/sdk/dist");
            fs::write(sdk.join("esm/package.json"), r#"{"type":"module"}"#)?;
            fs::write(sdk.join("cjs/package.json"), r#"{"type":"commonjs"}"#)?;
        }
        Ok(())
    };
    HOSTS.iter().map(|(name, _)| install(name)).collect()
}

/// Installs another version of a host, such as `claude-code@2.1.197`, into a folder of its own: `node_modules` there.
pub(crate) fn install_version(host: &str, package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let place = workspace::root().join(format!("target/hosts/{host}@{version}"));
    fs::create_dir_all(&place)?;
    fs::write(place.join("package.json"), r#"{"private":true}"#)?;
    let wanted = format!("{package}@{version}");
    let mut npm = npm("install", &place);
    npm.arg(&wanted);
    command::run_quietly(&format!("installing {wanted}"), npm)?;
    Ok(place.join("node_modules"))
}

/// Installs what the lock in `folder` names into a folder of `target/testkit`, unless that has been done; returns whether
/// it has done so now.
fn install_set(from: &str, name: &str) -> anyhow::Result<bool> {
    let folder = workspace::root().join(from);
    let lock = folder.join("package-lock.json");
    let wanted = fs::read(&lock).with_context(|| lock.display().to_string())?;
    let place = workspace::testkit().join(name);
    let done = place.join("installed-lock.json");
    if fs::read(&done).is_ok_and(|found| found == wanted) {
        return Ok(false);
    }
    fs::create_dir_all(&place)?;
    // From here on what was installed is no longer whole.
    let _ = fs::remove_file(&done);
    for file in ["package.json", "package-lock.json"] {
        fs::copy(folder.join(file), place.join(file)).with_context(|| format!("{from}/{file}"))?;
    }
    command::run_quietly(&format!("installing {from}/package-lock.json"), npm("ci", &place))?;
    fs::write(&done, wanted)?;
    Ok(true)
}

fn npm(verb: &str, place: &Path) -> Command {
    let mut npm =
        command("npm", [verb, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    // Without a network it would wait for more than a minute before its last try.
    npm.arg("--fetch-retry-maxtimeout=10000");
    npm.current_dir(place);
    npm
}
