//! What the server is asked to find out its era, for one caller.

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// What the server is being asked, or was asked in vain, for one caller.
pub(super) struct Asking {
    /// What was found out; `None` until then. Its receivers are the clients that wait.
    pub(super) found: watch::Sender<Option<Found>>,
    /// Whether the caller has waited for it.
    pub(super) has_waited: bool,
    pub(super) since: Instant,
    /// The task that asks.
    pub(super) task: AbortHandle,
}

impl Asking {
    pub(super) fn is_open(&self) -> bool {
        self.found.borrow().is_none()
    }

    /// Stops asking, as if the server had been silent for long.
    pub(super) fn stop(&self) {
        self.task.abort();
        self.found.send_replace(Some(Found::Silence));
    }
}

/// What was found out about the era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It speaks the modern revision.
    Modern,
    /// It has refused a modern request, as a legacy server does.
    Refusal,
    /// It speaks legacy revisions, and does not answer a modern request.
    LegacyOnly,
    /// It has answered, and that tells nothing.
    Nothing,
    /// It has not answered.
    Silence,
}
