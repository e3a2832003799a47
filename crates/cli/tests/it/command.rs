//! Running the command in the folder of the test data.

use std::path::Path;
use std::process::{Command, Output};

use toolbond_harness::process;

/// `toolbond` with `arguments`.
pub(crate) fn toolbond(arguments: &[&str]) -> Command {
    let mut command = process::toolbond(arguments);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data"));
    command
}

/// What `toolbond` does with `arguments` and `input`.
pub(crate) fn toolbond_with(arguments: &[&str], input: &str) -> Output {
    process::run(toolbond(arguments), input)
}

/// The exit code, standard output and standard error.
pub(crate) fn texts(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}
