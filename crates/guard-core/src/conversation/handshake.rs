//! The first request of a client, as long as its server does not answer it.

use std::time::{Duration, Instant};

use crate::message::Method;

/// How long a server may be silent before that is reported, and then twice as long each time.
const SILENCE: Duration = Duration::from_secs(10);

/// A handshake that a client waits for.
#[derive(Debug)]
pub(super) struct AwaitedHandshake {
    method: &'static str,
    since: Instant,
    /// When it is reported, if it is not answered by then.
    pub(super) deadline: Instant,
}

impl AwaitedHandshake {
    /// A request of this method, if that is a handshake.
    pub(super) fn new(method: Method, now: Instant) -> Option<Self> {
        let method = match method {
            Method::Initialize => "initialize",
            Method::Discover => "server/discover",
            _ => return None,
        };
        Some(Self { method, since: now, deadline: now + SILENCE })
    }

    /// What is reported if it is not answered yet, from time to time.
    pub(super) fn report(&mut self, now: Instant) -> Option<String> {
        if self.deadline > now {
            return None;
        }
        let silence = now.saturating_duration_since(self.since);
        self.deadline = now + silence;
        let (method, seconds) = (self.method, silence.as_secs());
        Some(format!(
            "server: has not answered `{method}` for {seconds} s; it may still be starting"
        ))
    }
}
