//! Running other programs, and saying so.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, anyhow, bail};

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
    let (name, line) = (name(&command), line(&command));
    eprintln!("$ {line}");
    let status = command.status().map_err(|error| cannot_run(&name, &line, error))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Says `what` it does and runs `command`, of which only the first error is shown.
pub(crate) fn run_quietly(what: &str, mut command: Command) -> anyhow::Result<()> {
    eprintln!("{what}");
    let (name, line) = (name(&command), line(&command));
    let output = command.output().map_err(|error| cannot_run(&name, &line, error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let error = said.lines().find(|line| line.to_lowercase().contains("error"));
    bail!("{what} failed: {}", error.unwrap_or(&line).trim());
}

/// Prints and runs `command`, and shows each line that it writes to `read` too; returns whether it succeeded.
pub(crate) fn each_line(mut command: Command, mut read: impl FnMut(&str)) -> anyhow::Result<bool> {
    let (name, line) = (name(&command), line(&command));
    eprintln!("$ {line}");
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().map_err(|error| cannot_run(&name, &line, error))?;
    // It holds the other ends of the pipe.
    drop(command);
    for line in BufReader::new(reader).lines() {
        let line = line?;
        eprintln!("{line}");
        read(&line);
    }
    Ok(child.wait()?.success())
}

/// What `command` prints; fails where it does.
pub(crate) fn output(mut command: Command) -> anyhow::Result<String> {
    let (name, line) = (name(&command), line(&command));
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| cannot_run(&name, &line, error))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}`"))
}

/// The name of a program without its folder.
fn name(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    program.rsplit(['/', '\\']).next().unwrap_or(&program).to_owned()
}

fn line(command: &Command) -> String {
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    format!("{} {}", name(command), arguments.join(" "))
}

fn cannot_run(name: &str, line: &str, error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("missing: {name}"),
        _ => anyhow!(error).context(format!("cannot run `{line}`")),
    }
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
