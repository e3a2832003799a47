//! Streams whose connection broke, kept until their client resumes them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::mailbox::{Mail, Mailbox, ROOM};
use crate::core::StreamId;
use crate::runtime::memory::Counted;

/// A stream whose connection broke.
pub(super) struct Parked {
    pub(super) stream: StreamId,
    pub(super) mailbox: Arc<Mailbox>,
    /// The answers that are still to come.
    pub(super) expected: usize,
    /// Messages that were taken out of the mailbox and not sent.
    pub(super) seen: VecDeque<Mail>,
    pub(super) history: History,
}

/// The events of one stream that its client may not have received.
#[derive(Debug, Default)]
pub(super) struct History {
    /// How many events were sent.
    sent: u64,
    /// The last ones, oldest first, with their numbers; at most [`ROOM`] bytes, or one event.
    recent: VecDeque<(u64, Counted)>,
    size: usize,
}

impl History {
    /// The number of the next event.
    pub(super) fn next_number(&self) -> u64 {
        self.sent
    }

    pub(super) fn add(&mut self, event: Counted) {
        self.size += event.len();
        self.recent.push_back((self.sent, event));
        self.sent += 1;
        while self.size > ROOM && self.recent.len() > 1 {
            self.size -= self.recent.pop_front().map_or(0, |(_, event)| event.len());
        }
    }

    /// The first event from `number` on that is still there, and its number.
    pub(super) fn from(&self, number: u64) -> Option<(u64, Counted)> {
        self.recent.iter().find(|(own, _)| *own >= number).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{History, ROOM};

    #[test]
    fn the_last_events_are_kept_up_to_a_bound() {
        let mut history = History::default();
        for _ in 0..10 {
            history.add(vec![b'a'; ROOM / 4].into());
        }
        assert_eq!(history.next_number(), 10);
        assert_eq!(history.from(0).unwrap().0, 6);
        assert_eq!(history.from(8).unwrap().0, 8);
        assert!(history.from(10).is_none());
        history.add(vec![b'a'; 2 * ROOM].into());
        assert_eq!(history.from(0).unwrap().0, 10);
    }
}
