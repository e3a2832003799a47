//! Who listens to changes.

use std::sync::{Mutex, PoisonError};

use rmcp::service::{SubscriptionContext, SubscriptionSink};

/// The subscriptions that are open.
#[derive(Debug, Default)]
pub(crate) struct Subscribers(Mutex<Vec<SubscriptionSink>>);

impl Subscribers {
    /// Keeps a subscription until its client ends it.
    pub(crate) async fn keep(&self, context: SubscriptionContext) {
        let sink = context.sink().clone();
        let id = sink.id().clone();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sink);
        context.cancelled().await;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|sink| *sink.id() != id);
    }

    /// All that are open now.
    pub(crate) fn all(&self) -> Vec<SubscriptionSink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
