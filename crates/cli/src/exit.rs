//! Exit codes.

use std::io;
use std::process::ExitCode;

use toolbond_guard::live::ToolsError;

use crate::terminal;

/// How a verb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// There is nothing to report: exit code 0.
    Clean,
    /// There are findings, on standard output: exit code 1.
    Findings,
    /// Part of the input could not be read, and the reason is on standard error: exit code 2.
    Failed,
    /// A guarded server ended with this exit code, which the guard passes on.
    Ended(u8),
}

/// Returns the exit code of `result`. Prints an error on one line of standard error, unless a signal ended the program.
///
/// A broken pipe is exit code 0: the reader has all that it wanted.
pub(crate) fn exit_code(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(Exit::Clean) => ExitCode::SUCCESS,
        Ok(Exit::Findings) => ExitCode::from(1),
        Ok(Exit::Failed) => ExitCode::from(2),
        Ok(Exit::Ended(code)) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(ToolsError::Interrupted { code }) = error.downcast_ref() {
                return ExitCode::from(*code);
            }
            terminal::print_error(&error);
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
