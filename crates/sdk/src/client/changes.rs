//! Hearing of tools that change.

use std::time::Duration;

use rmcp::{Peer, RoleClient, model::SubscriptionFilter};
use tokio::{task::AbortHandle, time::timeout};

/// How long the server may take to agree.
const PATIENCE: Duration = Duration::from_secs(5);

/// A subscription to changes of the tool list, which ends when this is dropped. Before 2026-07-28 none is needed: a
/// server that declares changes sends them.
#[derive(Debug)]
pub(super) struct Changes(AbortHandle);

impl Changes {
    /// Subscribes where the server declares that its tools change. What arrives makes the `rmcp` client forget the
    /// lists it keeps. Without an agreement they are kept for as long as their `ttlMs` says.
    pub(super) async fn of(peer: &Peer<RoleClient>) -> Option<Self> {
        let tools = peer.peer_info()?.capabilities.tools.clone();
        if tools.is_none_or(|tools| tools.list_changed != Some(true)) {
            return None;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        match timeout(PATIENCE, peer.listen(filter)).await {
            Ok(Ok(mut subscription)) => {
                let read = async move { while let Ok(Some(_)) = subscription.next().await {} };
                Some(Self(tokio::spawn(read).abort_handle()))
            }
            Ok(Err(error)) => {
                tracing::debug!(target: "toolpact", "no word of changed tools: {error}");
                None
            }
            Err(_) => {
                tracing::debug!(target: "toolpact", "no word of changed tools: no answer");
                None
            }
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.0.abort();
    }
}
