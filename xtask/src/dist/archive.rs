//! The archive with the program and what belongs to it, and the checksums of all packages.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::release::Release;
use super::share;
use crate::command::{command, run};
use crate::workspace;

/// Packs `toolbond-VERSION-TARGET.tar.gz`, where `cargo binstall` looks for the program.
pub(super) fn pack(
    release: &Release,
    program: &Path,
    share: &Path,
    work: &Path,
    out: &Path,
) -> anyhow::Result<()> {
    let name = format!("toolbond-{}-{}", release.version, release.system.target);
    let folder = work.join(&name);
    share::copy(share, &folder.join("share"))?;
    fs::copy(program, folder.join(release.system.program()))?;
    share::copy_documents(&folder)?;
    let mut tar = command("tar", ["-czf"]);
    tar.arg(out.join(format!("{name}.tar.gz"))).arg(name).current_dir(work);
    run(tar)
}

/// Writes `SHA256SUMS`, which `sha256sum --check` reads.
pub(super) fn write_sums(out: &Path) -> anyhow::Result<()> {
    let mut files = workspace::files(out)?;
    files.sort_unstable();
    let mut sums = String::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
        for byte in hmac_sha256::Hash::hash(&bytes) {
            write!(sums, "{byte:02x}")?;
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        writeln!(sums, "  {name}")?;
    }
    fs::write(out.join("SHA256SUMS"), sums).context("SHA256SUMS")
}
