//! Who listens to changes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::service::{SubscriptionContext, SubscriptionSink};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long a change waits for subscriptions that are being opened.
const WAIT: Duration = Duration::from_secs(1);

/// The subscriptions that are open.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    state: Mutex<State>,
    kept: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many were acknowledged and are not kept yet.
    opening: usize,
    open: Vec<SubscriptionSink>,
}

impl Subscribers {
    /// Says that a subscription is about to be acknowledged. Its client may cause a change before the server keeps it.
    pub(crate) fn expect(&self) {
        self.state().opening += 1;
    }

    /// Keeps a subscription until its client ends it.
    pub(crate) async fn keep(&self, context: SubscriptionContext) {
        let sink = context.sink().clone();
        let id = sink.id().clone();
        {
            let mut state = self.state();
            state.opening = state.opening.saturating_sub(1);
            state.open.push(sink);
        }
        self.kept.notify_waiters();
        context.cancelled().await;
        self.state().open.retain(|sink| *sink.id() != id);
    }

    /// All that are open now.
    pub(crate) async fn all(&self) -> Vec<SubscriptionSink> {
        let all_kept = async {
            loop {
                let kept = self.kept.notified();
                if self.state().opening == 0 {
                    break;
                }
                kept.await;
            }
        };
        if timeout(WAIT, all_kept).await.is_err() {
            // Their clients went away meanwhile.
            self.state().opening = 0;
        }
        self.state().open.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
