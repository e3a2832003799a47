//! Subscribing to changes of the tool list.

use std::time::Duration;

use rmcp::{Peer, RoleClient, model::SubscriptionFilter};
use tokio::{task::AbortHandle, time::timeout};

/// How long the server may take to accept the subscription.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A subscription to changes of the tool list, which ends when this is dropped. Before 2026-07-28 none is needed: a
/// server that declares changes sends them.
#[derive(Debug)]
pub(super) struct ToolListSubscription(AbortHandle);

impl ToolListSubscription {
    /// Subscribes if the server declares that its tools change. A notification makes the `rmcp` client drop its cached
    /// lists. Without a subscription they are cached for as long as their `ttlMs` says.
    pub(super) async fn open(peer: &Peer<RoleClient>) -> Option<Self> {
        let tools = peer.peer_info()?.capabilities.tools.clone();
        if tools.is_none_or(|tools| tools.list_changed != Some(true)) {
            return None;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        match timeout(TIMEOUT, peer.listen(filter)).await {
            Ok(Ok(mut subscription)) => {
                let read = async move { while let Ok(Some(_)) = subscription.next().await {} };
                Some(Self(tokio::spawn(read).abort_handle()))
            }
            Ok(Err(error)) => {
                tracing::debug!(target: "toolbond", "could not subscribe to tool list changes: {error}");
                None
            }
            Err(_) => {
                tracing::debug!(target: "toolbond", "could not subscribe to tool list changes: no answer");
                None
            }
        }
    }
}

impl Drop for ToolListSubscription {
    fn drop(&mut self) {
        self.0.abort();
    }
}
