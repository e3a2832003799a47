//! How a verb ends, and the exit code that says so.

use std::io;
use std::process::ExitCode;

use toolpact_guard::live::ToolsError;

use crate::terminal;

/// The end of a verb that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Nothing to report: exit code 0.
    Clean,
    /// The findings are on standard output: exit code 1.
    Findings,
    /// A part of the work could not be done, the reason is on standard error: exit code 2.
    Failed,
    /// Another program ended with this exit code, which is ours, too.
    Ended(u8),
}

/// The exit code of `result`; an error is told on standard error, in one line, unless whoever sent a
/// signal knows it.
///
/// A reader that closed standard output early has what it wanted: that is exit code 0.
pub(crate) fn code(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Failed) => ExitCode::from(2),
        Ok(Outcome::Ended(code)) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(ToolsError::ToldToEnd { code }) = error.downcast_ref() {
                return ExitCode::from(*code);
            }
            terminal::complain(&error);
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
