//! `cargo xtask dist`: the packages of this system, and tests of them.

mod archive;
mod npm;
mod release;
mod share;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, bail};
use clap::Args;

use self::release::Release;
use crate::command::{cargo, run as run_command};
use crate::{setup, workspace};

/// Bytes that a wheel or an npm package may have.
const MAX_SIZE: u64 = 8_000_000;

/// Build the packages of this system into target/packages: wheel, npm packages, archive, bill of materials, checksums
#[derive(Args)]
pub(crate) struct Dist {
    /// Test them too, in fresh environments without a Rust toolchain
    #[arg(long, conflicts_with_all = ["program", "out"])]
    check: bool,
    /// Make only the npm packages, of a program that is built already; the tests do this
    #[arg(long, value_name = "FILE", requires = "out")]
    program: Option<PathBuf>,
    /// The folder, which is made anew
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Dist {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let release = Release::read()?;
        let out = self.out.unwrap_or_else(packages);
        let out = absolute(&out)?;
        let work = out.join("work");
        make_anew(&out)?;
        fs::create_dir(&work)?;
        if let Some(program) = self.program {
            let program = absolute(program)?;
            let share = share::write(&program, &work)?;
            npm::pack(&release, &program, &share, &work, &out)?;
            return Ok(fs::remove_dir_all(&work)?);
        }
        let program = wheel::build_program(&release, &work)?;
        let share = share::write(&program, &work)?;
        wheel::build(&release, &share, &work, &out)?;
        npm::pack(&release, &program, &share, &work, &out)?;
        archive::pack(&release, &program, &share, &work, &out)?;
        fs::remove_dir_all(&work)?;
        archive::write_sums(&out)?;
        tell_sizes(&out)?;
        if self.check { check() } else { Ok(()) }
    }
}

/// Where packages go.
fn packages() -> PathBuf {
    workspace::root().join("target/packages")
}

/// Makes a folder that is empty.
fn make_anew(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

/// Prints how large the packages are, and fails where one is too large.
fn tell_sizes(out: &Path) -> anyhow::Result<()> {
    let mut files = workspace::files(out)?;
    files.sort_unstable();
    let mut large = Vec::new();
    for file in files {
        let size = fs::metadata(&file)?.len();
        let name = file.strip_prefix(out).unwrap_or(&file).display().to_string();
        eprintln!("{size:>10}  {name}");
        if size > MAX_SIZE {
            large.push(format!("{name}: {size} bytes exceed the limit of {MAX_SIZE}"));
        }
    }
    if large.is_empty() { Ok(()) } else { bail!("{}", large.join("\n")) }
}

/// Runs the tests of packages with those of `target/packages`.
fn check() -> anyhow::Result<()> {
    setup::run()?;
    let mut tests = cargo(["test", "--package", "toolbond-cli", "--test", "it", "packages::"]);
    tests.args(["--", "--include-ignored"]).env("TOOLBOND_PACKAGES", packages());
    run_command(tests)
}
