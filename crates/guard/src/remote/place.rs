//! How far an event stream of a server was read, and when it is opened again.

use std::time::Duration;

use hyper::header::HeaderValue;

use crate::http::events::{event_id, event_retry};

/// How soon an event stream that broke off is opened again, unless the server says; and the bounds of that.
const RETRY: Duration = Duration::from_secs(1);
const MIN_RETRY: Duration = Duration::from_millis(100);
pub(super) const MAX_RETRY: Duration = Duration::from_secs(30);

/// How far an event stream was read.
pub(super) struct Place {
    /// The id of the last event that has one.
    pub(super) last: Option<HeaderValue>,
    /// How soon the server wants it to be opened again.
    retry: Duration,
    /// The last pause before that.
    pause: Option<Duration>,
    /// Whether something was heard since then.
    pub(super) has_moved: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self { last: None, retry: RETRY, pause: None, has_moved: false }
    }
}

impl Place {
    pub(super) fn move_to(&mut self, event: &[u8]) {
        self.has_moved = true;
        if let Some(id) = event_id(event) {
            self.last = HeaderValue::from_bytes(id).ok();
        }
        if let Some(retry) = event_retry(event) {
            self.retry = retry.clamp(MIN_RETRY, MAX_RETRY);
        }
    }

    /// How long to wait now: longer each time that nothing was heard.
    pub(super) fn pause(&mut self) -> Duration {
        let has_moved = std::mem::take(&mut self.has_moved);
        let longer = self.pause.filter(|_| !has_moved).map(|last| last.saturating_mul(2));
        *self.pause.insert(longer.unwrap_or(self.retry).min(MAX_RETRY))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_RETRY, MIN_RETRY, Place};

    #[test]
    fn a_stream_that_stays_silent_is_opened_less_and_less_often() {
        let mut place = Place::default();
        let pauses: Vec<_> = (0..7).map(|_| place.pause().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        place.move_to(b"id: 7\nretry: 250\ndata:\n\n");
        assert_eq!(place.pause().as_millis(), 250);
        assert_eq!(place.last.as_ref().unwrap(), "7");
        place.move_to(b"retry: 0\n\n");
        assert_eq!(place.pause(), MIN_RETRY);
        place.move_to(b"retry: 99999999\n\n");
        assert_eq!(place.pause(), MAX_RETRY);
    }
}
