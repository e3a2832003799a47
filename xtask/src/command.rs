//! Running other programs, and saying so.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::workspace;

/// `program` with `arguments`, to be run at the root of the repository.
pub(crate) fn command<A: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace::root());
    command
}

/// `cargo`, the one that runs this.
pub(crate) fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments)
}

/// Prints and runs `command`; fails where it does.
pub(crate) fn run(mut command: Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let name = program.rsplit(['/', '\\']).next().unwrap_or(&program).to_owned();
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let line = format!("{name} {}", arguments.join(" "));
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Whether `program` with `arguments` can be run.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
