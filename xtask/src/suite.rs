//! The official JSON Schema Test Suite, from the source distribution of Python's `jsonschema`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::command::{self, command};
use crate::workspace;

const VERSION: &str = "4.26.0";
const SHA256: &str = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326";

/// Fetches the suite into `target/testkit/suite`, unless this version of it is there.
pub(crate) fn fetch() -> anyhow::Result<()> {
    let suite = workspace::testkit().join("suite");
    let pin = format!("jsonschema=={VERSION} sha256={SHA256}\n");
    if fs::read_to_string(suite.join("PIN")).is_ok_and(|found| found == pin) {
        return Ok(());
    }
    let work = workspace::testkit().join("suite.partial");
    for stale in [&suite, &work] {
        if stale.exists() {
            fs::remove_dir_all(stale).with_context(|| stale.display().to_string())?;
        }
    }
    fs::create_dir_all(&work)?;

    // pip asks a source distribution for its metadata and so fetches its build backend too.
    let mut pip = command("python3", ["-m", "pip", "--disable-pip-version-check", "download"]);
    pip.args(["--quiet", "--no-deps", "--no-binary", "jsonschema", "--dest"]).arg(&work);
    pip.arg(format!("jsonschema=={VERSION}"));
    command::run_quietly("downloading the JSON Schema Test Suite", pip)?;

    let archive = work.join(format!("jsonschema-{VERSION}.tar.gz"));
    check(&archive)?;
    let mut tar = command("python3", ["-m", "tarfile", "--extract"]);
    tar.arg(&archive).arg(&work);
    command::output(tar)?;
    let json = work.join(format!("jsonschema-{VERSION}")).join("json");
    fs::write(json.join("PIN"), pin)?;
    // The last step: a suite that is there is whole.
    fs::rename(&json, &suite).context("target/testkit/suite")?;
    fs::remove_dir_all(&work)?;
    Ok(())
}

fn check(archive: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(archive).with_context(|| archive.display().to_string())?;
    let found = hmac_sha256::Hash::hash(&bytes)
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    if found != SHA256 {
        bail!("{}: expected sha256 {SHA256}, found {found}", archive.display());
    }
    Ok(())
}
