//! Node packages that the tests run.

use std::fs;

use anyhow::Context as _;

use crate::command::{self, command};
use crate::workspace;

/// Installs what `package-lock.json` in `folder` names into `target/testkit/node/<name>/node_modules`,
/// unless that has been done.
pub(crate) fn install(name: &str, folder: &str) -> anyhow::Result<()> {
    let folder = workspace::root().join(folder);
    let lock = folder.join("package-lock.json");
    if !lock.exists() {
        return Ok(());
    }
    let wanted = fs::read(&lock).with_context(|| lock.display().to_string())?;
    let place = workspace::testkit().join("node").join(name);
    let done = place.join("installed-lock.json");
    if fs::read(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    fs::create_dir_all(&place)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(folder.join(file), place.join(file))
            .with_context(|| format!("{file} of {name}"))?;
    }
    let mut npm = command("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.current_dir(&place);
    command::run(npm)?;
    fs::write(done, wanted)?;
    Ok(())
}
