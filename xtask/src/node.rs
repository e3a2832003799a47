//! Node packages that the tests run.

use std::fs;

use anyhow::Context as _;

use crate::command::{self, command};
use crate::workspace;

/// Installs what `peers/package-lock.json` names into `target/testkit/peers/node_modules`, unless that has been done.
pub(crate) fn install() -> anyhow::Result<()> {
    let folder = workspace::root().join("peers");
    let lock = folder.join("package-lock.json");
    let wanted = fs::read(&lock).with_context(|| lock.display().to_string())?;
    let place = workspace::testkit().join("peers");
    let done = place.join("installed-lock.json");
    if fs::read(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    fs::create_dir_all(&place)?;
    // From here on what was installed is no longer whole.
    let _ = fs::remove_file(&done);
    for file in ["package.json", "package-lock.json"] {
        fs::copy(folder.join(file), place.join(file)).with_context(|| format!("peers/{file}"))?;
    }
    let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let mut npm = command("npm", ["ci"].iter().chain(&options));
    // Without a network it would wait for more than a minute before its last try.
    npm.arg("--fetch-retry-maxtimeout=10000");
    npm.current_dir(&place);
    command::run_quietly("installing peers/package-lock.json", npm)?;
    fs::write(done, wanted)?;
    Ok(())
}
