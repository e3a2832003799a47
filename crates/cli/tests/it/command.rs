//! Running the command in the folder of the test data.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::{io::Write as _, thread};

/// `toolbond` with `arguments`.
pub(crate) fn toolbond(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbond"));
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data");
    command.args(arguments).current_dir(data).env("NO_COLOR", "1");
    command
}

/// What `toolbond` does with `arguments` and `input`.
pub(crate) fn toolbond_with(arguments: &[&str], input: &str) -> Output {
    let mut command = toolbond(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A command that ends early does not read all of it.
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// One test, one command line in the folder `data`, one snapshot of its output and exit code.
macro_rules! commands {
    ($($name:ident: $arguments:expr;)*) => {$(
        #[test]
        fn $name() {
            insta_cmd::assert_cmd_snapshot!(stringify!($name), $crate::command::toolbond(&$arguments));
        }
    )*};
}
pub(crate) use commands;
