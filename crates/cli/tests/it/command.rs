//! Running the command in the folder of the test data.

use std::path::PathBuf;
use std::process::Command;

/// `toolpact` with `arguments`.
pub(crate) fn toolpact(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolpact"));
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data");
    command.args(arguments).current_dir(data).env("NO_COLOR", "1");
    command
}
