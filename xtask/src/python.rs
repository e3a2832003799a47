//! Python packages that the tests run.

use std::fs;

use anyhow::Context as _;

use crate::command::{self, command};
use crate::workspace;

/// Installs what `peers/python/<list>.txt` pins into `target/testkit/python/<list>`, unless that has been done.
pub(crate) fn install(list: &str) -> anyhow::Result<()> {
    let requirements = workspace::root().join("peers/python").join(format!("{list}.txt"));
    let wanted = fs::read(&requirements).with_context(|| requirements.display().to_string())?;
    let place = workspace::testkit().join("python").join(list);
    let done = place.join("installed-requirements.txt");
    if fs::read(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    if place.exists() {
        fs::remove_dir_all(&place).with_context(|| place.display().to_string())?;
    }
    fs::create_dir_all(&place)?;
    let mut pip = command("python3", ["-m", "pip", "--disable-pip-version-check", "install"]);
    pip.args(["--quiet", "--no-deps", "--target"]).arg(&place).arg("-r").arg(&requirements);
    pip.env("PIP_ROOT_USER_ACTION", "ignore");
    command::run_quietly(&format!("installing peers/python/{list}.txt"), pip)?;
    fs::write(done, wanted)?;
    Ok(())
}
