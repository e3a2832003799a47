//! What a session talks to: a process, or a server on HTTP that is of another era than its clients.

use std::sync::Arc;

use crate::back::child::{Child, Launch, StartError, Watchdog};
use crate::back::remote::headers::RemoteHeaders;
use crate::back::remote::{Remote, RemoteSession};

/// What requests without an answer are told.
pub(super) const ENDED: &str = "the server ended before it answered";

/// How to start what sessions talk to.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Process(Launch),
    Remote(Box<Remote>),
}

impl Target {
    /// Starts it; a server on HTTP gets `headers`.
    pub(super) fn start(&self, headers: &Arc<RemoteHeaders>) -> Result<RunningServer, StartError> {
        Ok(match self {
            Self::Process(launch) => {
                let (child, watchdog) = launch.clone().start()?;
                RunningServer::Process(Box::new(child), watchdog)
            }
            Self::Remote(remote) => RunningServer::Remote(remote.connect(Arc::clone(headers))),
        })
    }
}

/// What one session talks to.
pub(super) enum RunningServer {
    Process(Box<Child>, Option<Watchdog>),
    Remote(RemoteSession),
}

impl RunningServer {
    /// Waits until it has ended; says how, for the log and for those who wait for an answer.
    pub(super) async fn wait(&mut self) -> Option<(String, String)> {
        match self {
            Self::Process(child, _) => {
                let status = child.wait().await.ok()?;
                let how = child.describe_end(status);
                Some((format!("ended with {how}"), format!("{ENDED} ({how})")))
            }
            Self::Remote(session) => session.why_ended().map(|why| (why.clone(), why)),
        }
    }

    /// Ends it.
    pub(super) async fn end(self) {
        match self {
            Self::Process(mut child, watchdog) => {
                let _ = child.end().await;
                drop(child);
                let _ = tokio::task::spawn_blocking(move || drop(watchdog)).await;
            }
            Self::Remote(session) => session.end().await,
        }
    }
}
