//! A server that is a process, in a process group of its own.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::group::ProcessGroup;
use super::stderr::Stderr;

/// How long a server may take to end after its input is closed, and after a signal.
const PATIENCE: Duration = Duration::from_secs(3);

/// What stands before a line of a server in [`Child::describe_end`].
pub(crate) const SAYS: &str = "stderr: ";

/// The number of SIGTERM.
const TERMINATE: i32 = 15;

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The command could not be started.
    #[error("could not start `{program}`")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The guard could not register for signals.
    #[error("could not register for signals")]
    Signals(#[source] io::Error),
}

/// A running server, in a process group of its own.
#[derive(Debug)]
pub struct Child {
    child: ProcessGroup,
    stderr: Option<Stderr>,
}

impl Child {
    /// Starts `program`. Its standard error is copied to that of this process.
    ///
    /// Fails if the program is not found or cannot be executed.
    ///
    /// # Panics
    ///
    /// Outside of a `tokio` runtime.
    pub fn start(program: &OsString, arguments: &[OsString]) -> Result<Self, StartError> {
        let mut command = Command::new(program);
        command.args(arguments);
        Self::launch(command)
    }

    /// Starts `command`, like [`Child::start`].
    pub(crate) fn launch(command: Command) -> Result<Self, StartError> {
        Self::launch_with(command, Stderr::copy)
    }

    /// Starts `command`, whose standard error `read` reads.
    pub(super) fn launch_with(
        mut command: Command,
        read: fn(ChildStderr) -> Stderr,
    ) -> Result<Self, StartError> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = ProcessGroup::spawn(command);
        let mut child = child.map_err(|source| StartError::Start { program, source })?;
        let stderr = child.stderr().map(read);
        Ok(Self { child, stderr })
    }

    /// The id of the process, which is also that of its process group.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Takes the output and the input of the server. Returns `None` the second time.
    pub(crate) fn streams(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        Some((self.child.stdout()?, self.child.stdin()?))
    }

    /// Waits until the server has ended and its standard error is copied.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        if let Some(stderr) = &mut self.stderr {
            stderr.finish().await;
        }
        status
    }

    /// How it ended, for an error or the log: its exit status, and what it said last on standard error.
    pub(crate) fn describe_end(&self, status: ExitStatus) -> String {
        match self.stderr.as_ref().and_then(Stderr::telling_line) {
            Some(line) => format!("{status}; {SAYS}{line}"),
            None => status.to_string(),
        }
    }

    /// Waits for the server to end by itself, then sends SIGTERM, then kills it.
    pub(crate) async fn end(&mut self) -> io::Result<ExitStatus> {
        if let Ok(status) = timeout(PATIENCE, self.wait()).await {
            self.kill_group();
            return status;
        }
        self.end_with(TERMINATE).await
    }

    /// Sends a signal, waits, then kills the server.
    pub(crate) async fn end_with(&mut self, signal: i32) -> io::Result<ExitStatus> {
        let _ = self.child.signal(signal);
        let Ok(status) = timeout(PATIENCE, self.wait()).await else {
            return self.kill().await;
        };
        self.kill_group();
        status
    }

    /// Kills the server.
    pub(crate) async fn kill(&mut self) -> io::Result<ExitStatus> {
        self.child.kill()?;
        let status = self.wait().await;
        self.kill_group();
        status
    }

    /// Kills the processes that the server started and left behind.
    fn kill_group(&mut self) {
        // Most leave none, and then the group does not exist.
        let _ = self.child.kill();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_group();
    }
}
