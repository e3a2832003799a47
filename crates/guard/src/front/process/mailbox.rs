//! Queues of messages for clients.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::back::remote::refusal::HttpRefusal;
use crate::memory::{MemoryLimit, NoMemory};
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::lock::lock;

/// The bytes that may wait for a client. A longer message waits alone.
pub(super) const ROOM: usize = 1 << 20;

/// Overhead that each message counts for, so that many short ones are limited, too.
const OVERHEAD: usize = 256;

/// A message for a client.
#[derive(Debug)]
pub(super) struct Mail {
    pub(super) message: Pieces,
    /// Whether it answers a request of the client.
    pub(super) is_answer: bool,
    /// How a server on HTTP refused that request.
    pub(super) refusal: Option<Box<HttpRefusal>>,
}

impl Mail {
    /// A message that answers nothing, or what a server answered that did not refuse.
    pub(super) fn new(message: impl Into<Pieces>, is_answer: bool) -> Self {
        Self { message: message.into(), is_answer, refusal: None }
    }

    /// Moves it to the memory of what may be resumed.
    pub(super) fn keep(&mut self, memory: &MemoryLimit) -> Result<(), NoMemory> {
        let reservation = memory.reserve_resumable(self.message.length())?;
        self.message = reservation.attach(self.message.joined().into_owned()).into();
        Ok(())
    }

    /// The share of [`ROOM`] that it uses.
    pub(super) fn weight(&self) -> usize {
        (self.message.length() + OVERHEAD).min(ROOM)
    }
}

/// Messages for one stream of a client, oldest first. Answers always fit; other messages only while there
/// is room.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<Queue>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    mail: VecDeque<Mail>,
    weight: usize,
    is_closed: bool,
    /// Whether the client takes answers only.
    answers_only: bool,
    /// Whether a message was dropped since the client last read.
    is_missing: bool,
    /// How many requests were cancelled since the mailbox was last emptied. They get no answer.
    cancelled: usize,
}

/// What was in a mailbox.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) mail: VecDeque<Mail>,
    /// How many requests get no answer, because the client has cancelled them.
    pub(super) cancelled: usize,
    /// Whether nothing more will come.
    pub(super) is_last: bool,
}

/// The outcome of a delivery.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It is in the mailbox.
    Delivered,
    /// The mailbox is closed, or takes only answers.
    Refused,
    /// The mailbox is full. `true` for the first message since the client last read.
    Missed(bool),
}

impl Mailbox {
    pub(super) fn new(answers_only: bool) -> Arc<Self> {
        let state = Mutex::new(Queue { answers_only, ..Queue::default() });
        Arc::new(Self { state, added: Notify::new() })
    }

    /// Adds a message.
    pub(super) fn deliver(&self, mail: Mail) -> (Delivery, Option<Mail>) {
        let mut state = lock(&self.state);
        if state.is_closed || (state.answers_only && !mail.is_answer) {
            return (Delivery::Refused, Some(mail));
        }
        if !mail.is_answer && state.weight >= ROOM {
            let is_first = !std::mem::replace(&mut state.is_missing, true);
            return (Delivery::Missed(is_first), Some(mail));
        }
        state.weight += mail.weight();
        state.mail.push_back(mail);
        drop(state);
        self.added.notify_one();
        (Delivery::Delivered, None)
    }

    /// Changes each message, as long as `change` does not fail.
    pub(super) fn try_for_each<E>(
        &self,
        change: impl FnMut(&mut Mail) -> Result<(), E>,
    ) -> Result<(), E> {
        lock(&self.state).mail.iter_mut().try_for_each(change)
    }

    /// Whether more messages than answers fit in.
    pub(super) fn has_room(&self) -> bool {
        let state = lock(&self.state);
        state.is_closed || state.is_missing || state.weight < ROOM
    }

    /// Notes that the client has cancelled a request, which gets no answer.
    pub(super) fn cancel(&self) {
        lock(&self.state).cancelled += 1;
        self.added.notify_one();
    }

    /// Waits until there is something to take, or the mailbox is closed.
    pub(super) async fn wait(&self) {
        loop {
            let added = self.added.notified();
            {
                let state = lock(&self.state);
                if !state.mail.is_empty() || state.cancelled > 0 || state.is_closed {
                    return;
                }
            }
            added.await;
        }
    }

    /// Takes what is there.
    pub(super) fn take(&self) -> Taken {
        let mut state = lock(&self.state);
        (state.weight, state.is_missing) = (0, false);
        let is_last = state.is_closed && state.mail.is_empty();
        let cancelled = std::mem::take(&mut state.cancelled);
        Taken { mail: std::mem::take(&mut state.mail), cancelled, is_last }
    }

    /// Closes the mailbox, and returns another one with what was in it.
    pub(super) fn replace(&self) -> Arc<Self> {
        let mut old = lock(&self.state);
        let closed = Queue { is_closed: true, ..Queue::default() };
        let new = std::mem::replace(&mut *old, closed);
        drop(old);
        self.added.notify_one();
        Arc::new(Self { state: Mutex::new(new), added: Notify::new() })
    }

    /// Accepts no more messages. Those in it can still be taken.
    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.added.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::{Delivery, Mail, Mailbox, ROOM};
    use crate::testing::counted;

    fn mail(bytes: usize, is_answer: bool) -> Mail {
        Mail::new(counted(vec![b'a'; bytes]), is_answer)
    }

    #[tokio::test]
    async fn is_bounded_but_for_answers() {
        let mailbox = Mailbox::new(false);
        assert_eq!(mailbox.deliver(mail(2 * ROOM, false)).0, Delivery::Delivered);
        assert!(!mailbox.has_room());
        assert_eq!(mailbox.deliver(mail(1, false)).0, Delivery::Missed(true));
        assert_eq!(mailbox.deliver(mail(1, false)).0, Delivery::Missed(false));
        assert_eq!(mailbox.deliver(mail(1, true)).0, Delivery::Delivered);
        assert_eq!(mailbox.take().mail.len(), 2);
        assert_eq!(mailbox.deliver(mail(1, false)).0, Delivery::Delivered);
        mailbox.close();
        assert_eq!(mailbox.deliver(mail(1, true)).0, Delivery::Refused);
        mailbox.wait().await;
        let (some, none) = (mailbox.take(), mailbox.take());
        assert_eq!((some.mail.len(), some.is_last), (1, false));
        assert_eq!((none.mail.len(), none.is_last), (0, true));
    }

    #[test]
    fn may_take_answers_only() {
        let mailbox = Mailbox::new(true);
        assert_eq!(mailbox.deliver(mail(1, false)).0, Delivery::Refused);
        assert_eq!(mailbox.deliver(mail(1, true)).0, Delivery::Delivered);
    }
}
