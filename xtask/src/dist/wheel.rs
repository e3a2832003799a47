//! The wheel, built by maturin; the program in it is that of all packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::release::Release;
use super::{make_anew, share};
use crate::command::{self, command};
use crate::{python, workspace};

/// Builds the program in a wheel that is not kept, and takes it out.
pub(super) fn build_program(release: &Release, work: &Path) -> anyhow::Result<PathBuf> {
    python::install("maturin")?;
    let place = work.join("program");
    let wheel = maturin(release, None, &place)?;
    unpack(&wheel, &place)?;
    let data = place.join(format!("toolbond-{}.data", release.version));
    let program = data.join("scripts").join(release.system.program());
    make_executable(&program)?;
    Ok(program)
}

/// Builds the wheel with manual pages and completions, and copies its bill of materials beside it.
pub(super) fn build(
    release: &Release,
    share: &Path,
    work: &Path,
    out: &Path,
) -> anyhow::Result<()> {
    let wheel = maturin(release, Some(share), out)?;
    let place = work.join("wheel");
    unpack(&wheel, &place)?;
    let (version, target) = (&release.version, release.system.target);
    let materials = place.join(format!("toolbond-{version}.dist-info/sboms"));
    let materials = materials.join("toolbond-cli.cyclonedx.json");
    fs::copy(&materials, out.join(format!("toolbond-{version}-{target}.cdx.json")))
        .with_context(|| materials.display().to_string())?;
    Ok(())
}

/// Runs maturin in a copy of `packages/python` that is as deep in the repository, and returns the wheel.
fn maturin(release: &Release, share: Option<&Path>, out: &Path) -> anyhow::Result<PathBuf> {
    let root = workspace::root();
    let source = root.join("target/wheel");
    make_anew(&source)?;
    share::copy(&root.join("packages/python"), &source)?;
    share::copy_documents(&source)?;
    if let Some(share) = share {
        share::copy(share, &source.join("toolbond.data/data/share"))?;
    }
    let tools = workspace::testkit().join("python/maturin");
    let mut maturin = command(&tools.join("bin/maturin").to_string_lossy(), ["build", "--out"]);
    maturin
        .arg(out)
        .args(["--target", release.system.target])
        .current_dir(&source)
        .env("PYTHONPATH", &tools);
    for_old_systems(&mut maturin);
    command::run(maturin)?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|it| it == "whl");
    workspace::files(out)?.into_iter().find(is_wheel).context("maturin has built no wheel")
}

/// Links against the glibc 2.17 of 2012, or for macOS 11 of 2020.
fn for_old_systems(maturin: &mut Command) {
    if cfg!(target_os = "linux") {
        maturin.args(["--zig", "--compatibility", "manylinux_2_17"]);
    } else if cfg!(target_os = "macos") {
        maturin.env("MACOSX_DEPLOYMENT_TARGET", "11.0");
    }
}

fn unpack(wheel: &Path, place: &Path) -> anyhow::Result<()> {
    let mut unpack = command("python3", ["-m", "zipfile", "--extract"]);
    unpack.arg(wheel).arg(place);
    command::output(unpack).map(drop)
}

/// What unpacks a wheel loses who may run a file.
fn make_executable(program: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(program, fs::Permissions::from_mode(0o755))
            .with_context(|| program.display().to_string())?;
    }
    Ok(())
}
