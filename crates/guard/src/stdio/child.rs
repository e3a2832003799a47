//! A server as a child process that never outlives its guard.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use toolpact_contract::Revision;

use super::relay::relay_until;
use super::signals::{Caught, Signals};
use crate::{Event, Inspector};

/// How long a server may take to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why there is no server to guard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The command could not be started.
    #[error("cannot start `{program}`")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// The signals of the system could not be listened to.
    #[error("cannot listen to signals")]
    Signals(#[source] io::Error),
}

/// A server that runs, in a process group of its own.
#[derive(Debug)]
pub struct Server {
    child: Box<dyn ChildWrapper>,
}

impl Server {
    /// Starts `program`; its standard error is that of this process.
    ///
    /// Fails where the program is not found or may not be run.
    pub fn start(program: &OsString, arguments: &[OsString]) -> Result<Self, ServeError> {
        let mut command = Command::new(program);
        command.args(arguments);
        Self::launch(command)
    }

    /// Starts `command` like [`Server::start`] does.
    pub(crate) fn launch(mut command: Command) -> Result<Self, ServeError> {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut wrap = CommandWrap::from(command);
        wrap.wrap(KillOnDrop);
        #[cfg(unix)]
        wrap.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrap.wrap(process_wrap::tokio::JobObject);
        let child = wrap.spawn().map_err(|source| ServeError::Start { program, source })?;
        Ok(Self { child })
    }

    /// The id of its process group, which is that of the process.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What the server writes and what it reads; once.
    pub(crate) fn streams(&mut self) -> Option<(ChildStdout, ChildStdin)> {
        Some((self.child.stdout().take()?, self.child.stdin().take()?))
    }

    /// Relays between `client` and the server until one of them is gone or this process is told to
    /// end, and gives the exit code of the server: its own, or 128 and the signal that ended it.
    ///
    /// When it returns, nothing of the process group is left.
    pub async fn serve(
        mut self,
        client: (impl AsyncRead + Send + Unpin, impl AsyncWrite + Send + Unpin + 'static),
        inspector: Arc<Inspector>,
    ) -> Result<u8, ServeError> {
        let mut signals = Signals::listen().map_err(ServeError::Signals)?;
        let Some(server) = self.streams() else { return Ok(0) };
        let caught = {
            let ended = async {
                // Why it cannot be waited for is told when it is waited for again.
                let _ = self.child.wait().await;
            };
            tokio::select! {
                _ = relay_until(client, server, Arc::clone(&inspector), Revision::default(), ended) => None,
                caught = signals.next() => Some(caught),
            }
        };
        let status = match caught {
            None => self.end().await,
            Some(caught) => self.end_by(caught).await,
        };
        let code = match status {
            Ok(status) => {
                if !status.success() && caught.is_none() {
                    inspector.say(Event::warning(format!("server: ended with {status}")));
                }
                code(status)
            }
            Err(error) => {
                inspector.say(Event::error(format!("server: its end is not known: {error}")));
                1
            }
        };
        Ok(code)
    }

    /// Lets the server end by itself, then asks it to, then ends it.
    pub(crate) async fn end(&mut self) -> io::Result<ExitStatus> {
        if let Ok(status) = timeout(PATIENCE, self.child.wait()).await {
            self.sweep();
            return status;
        }
        self.end_by(Caught::Terminate).await
    }

    /// Passes a signal on, waits, then ends the server.
    pub(crate) async fn end_by(&mut self, caught: Caught) -> io::Result<ExitStatus> {
        #[cfg(unix)]
        let _ = self.child.signal(caught.number());
        #[cfg(not(unix))]
        let _ = caught;
        let status = if let Ok(status) = timeout(PATIENCE, self.child.wait()).await {
            status
        } else {
            self.child.start_kill()?;
            self.child.wait().await
        };
        self.sweep();
        status
    }

    /// Ends what the server itself started and left behind.
    fn sweep(&mut self) {
        // Most leave nothing, and then there is no such group.
        let _ = self.child.start_kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.sweep();
    }
}

fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
}
