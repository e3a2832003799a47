//! Listening for changes of the tool list, for replicas: clients hear of them on a stream that another replica may have.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::reverse_proxy::Proxy;
use crate::live::{ToolsError, watch};
use toolbond_guard_core::event::Event;

/// How long a server that is not used is listened to.
const IDLE: Duration = Duration::from_secs(600);

/// How long to wait before the first and the longest further try.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// How long to wait after a server has said that it cannot be listened to.
const REFUSED_PAUSE: Duration = Duration::from_secs(600);

impl Proxy {
    /// Listens to the server for changes of its tool list as long as it is used.
    pub(crate) fn keep_watching(self: &Arc<Self>) {
        self.watched.uses.fetch_add(1, Ordering::Relaxed);
        if !self.watched.is_running.swap(true, Ordering::Relaxed) {
            tokio::spawn(run(Arc::downgrade(self)));
        }
    }
}

async fn run(proxy: Weak<Proxy>) {
    let mut pause = PAUSES.0;
    let mut seen = (u64::MAX, Instant::now());
    while let Some(strong) = proxy.upgrade() {
        let uses = strong.watched.uses.load(Ordering::Relaxed);
        if uses != seen.0 {
            seen = (uses, Instant::now());
        } else if seen.1.elapsed() > IDLE {
            strong.watched.is_running.store(false, Ordering::Relaxed);
            return;
        }
        let server = strong.remote.http.clone();
        drop(strong);
        let mut is_open = false;
        let on_change = || {
            is_open = true;
            if let Some(proxy) = proxy.upgrade() {
                proxy.sessions.forget_lists();
            }
        };
        let ended = watch(server, on_change).await;
        let Some(strong) = proxy.upgrade() else { return };
        if is_open {
            // What changes while nobody listens is not heard of.
            strong.sessions.forget_lists();
            pause = PAUSES.0;
        }
        let wait = match ended {
            Err(error @ (ToolsError::Status { .. } | ToolsError::Refused { .. })) => {
                strong.server.report_event_once(Event::info(format!(
                    "server: cannot listen for changes of the tool list; it is requested again every minute: {error}"
                )));
                REFUSED_PAUSE
            }
            _ => pause,
        };
        pause = (pause * 2).min(PAUSES.1);
        drop(strong);
        sleep(wait).await;
    }
}
