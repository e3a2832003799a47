//! Streams that their client may resume after the connection broke.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::inflow::Inflow;
use super::mailbox::{Mail, ROOM};
use crate::memory::{MemoryLimit, Reservation};
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::counted::Counted;

/// A stream that its client may resume.
pub(super) struct Resumable {
    pub(super) stream: StreamId,
    pub(super) inflow: Inflow,
    pub(super) history: History,
    /// The message whose event is being written.
    pub(super) writing: Option<Pieces>,
}

impl Resumable {
    pub(super) fn new(stream: StreamId, inflow: Inflow) -> Self {
        Self { stream, inflow, history: History::default(), writing: None }
    }

    /// Puts the message whose event was not written to its end before the others.
    pub(super) fn rewind(&mut self) {
        if let Some(message) = self.writing.take() {
            self.inflow.seen.push_front(Mail::new(message, true));
        }
    }
}

/// A connection that carries a stream, until another connection of the client takes it over.
pub(super) type ResumableConnection = Mutex<Option<Resumable>>;

/// The events of one stream that its client may not have received.
#[derive(Debug, Default)]
pub(super) struct History {
    /// How many events were sent.
    sent: u64,
    /// The last ones, oldest first, with their numbers; at most [`ROOM`] bytes, or one event.
    recent: VecDeque<(u64, Counted)>,
    size: usize,
    /// The number of the next event to send again.
    replay: Option<u64>,
}

impl History {
    /// The number of the next event.
    pub(super) fn next_number(&self) -> u64 {
        self.sent
    }

    /// Takes memory for an event of so many bytes, for which the oldest ones make room; `None` where that is not enough.
    pub(super) fn make_room(&mut self, length: usize, memory: &MemoryLimit) -> Option<Reservation> {
        while self.size + length > ROOM && self.drop_oldest() {}
        loop {
            if let Ok(reservation) = memory.reserve_resumable(length) {
                return Some(reservation);
            }
            if !self.drop_oldest() {
                return None;
            }
        }
    }

    /// Counts an event, and keeps it if there is room for it.
    pub(super) fn add(&mut self, event: Option<Counted>) {
        if let Some(event) = event {
            self.size += event.len();
            self.recent.push_back((self.sent, event));
        }
        self.sent += 1;
    }

    /// Drops the oldest event; `false` if there is none.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.recent.pop_front();
        self.size -= oldest.as_ref().map_or(0, |(_, event)| event.len());
        oldest.is_some()
    }

    /// Sends again what came after the event `last`.
    pub(super) fn replay_after(&mut self, last: u64) {
        self.replay = last.checked_add(1);
    }

    /// The next event to send again.
    pub(super) fn replay(&mut self) -> Option<Counted> {
        let (number, event) = self.replay.take().and_then(|from| self.from(from))?;
        self.replay = Some(number + 1);
        Some(event)
    }

    /// The first event from `number` on that is still there, and its number.
    fn from(&self, number: u64) -> Option<(u64, Counted)> {
        self.recent.iter().find(|(own, _)| *own >= number).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{History, MemoryLimit, ROOM};

    fn add(history: &mut History, bytes: usize, memory: &MemoryLimit) {
        let room = history.make_room(bytes, memory);
        history.add(room.map(|room| room.attach(vec![b'a'; bytes])));
    }

    #[test]
    fn the_last_events_are_kept_up_to_a_bound() {
        let (mut history, memory) = (History::default(), MemoryLimit::default());
        for _ in 0..10 {
            add(&mut history, ROOM / 4, &memory);
        }
        assert_eq!(history.next_number(), 10);
        assert_eq!(history.from(0).unwrap().0, 6);
        assert_eq!(history.from(8).unwrap().0, 8);
        assert!(history.from(10).is_none());
        add(&mut history, 2 * ROOM, &memory);
        assert_eq!(history.from(0).unwrap().0, 10);
    }

    #[test]
    fn histories_leave_memory_to_other_messages() {
        let memory = MemoryLimit::new(16 << 20);
        let mut histories: Vec<_> = (0..20).map(|_| History::default()).collect();
        for history in &mut histories {
            for _ in 0..10 {
                add(history, ROOM / 10, &memory);
            }
        }
        assert!(memory.used()[0] <= 1 << 20, "{:?}", memory.used());
        // One that has room keeps its last events, others keep none.
        assert_eq!(histories[0].from(9).unwrap().0, 9);
        assert!(histories[19].from(0).is_none());
        histories.remove(0);
        add(&mut histories[18], ROOM / 10, &memory);
        assert_eq!(histories[18].from(0).unwrap().0, 10);
    }
}
