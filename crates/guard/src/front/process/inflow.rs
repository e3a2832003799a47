//! Messages on their way to one stream of a client.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, IgnoredAny};

use super::mailbox::{Mail, Mailbox};
use crate::memory::{MemoryLimit, NoMemory};
use toolbond_guard_core::message::INLINE_BYTES;

/// Messages on their way to one stream of a client.
#[derive(Default)]
pub(super) struct Inflow {
    pub(super) mailbox: Arc<Mailbox>,
    /// The answers that are still to come; more than there can be where the client listens.
    expected: usize,
    /// Messages that were taken out of the mailbox and not sent.
    pub(super) seen: VecDeque<Mail>,
    /// Whether one of the requests is `initialize`.
    pub(super) is_initialize: bool,
    /// Whether the client has cancelled one of the requests.
    pub(super) is_cancelled: bool,
}

impl Inflow {
    pub(super) fn new(mailbox: Arc<Mailbox>, expected: usize) -> Self {
        Self { mailbox, expected, ..Self::default() }
    }

    /// Whether all answers are here, or there will be no more.
    pub(super) fn is_complete(&self) -> bool {
        self.expected == 0
    }

    /// Takes what is in the mailbox. Returns whether that refuses `initialize`.
    pub(super) fn collect(&mut self) -> bool {
        let taken = self.mailbox.take();
        self.expected = self.expected.saturating_sub(taken.cancelled);
        self.is_cancelled |= taken.cancelled > 0;
        if taken.is_last {
            self.expected = 0;
        }
        let mut refuses = false;
        for mail in taken.mail {
            if mail.is_answer {
                self.expected = self.expected.saturating_sub(1);
                refuses |= self.is_initialize && is_error(&mail);
            }
            self.seen.push_back(mail);
        }
        refuses
    }

    /// Closes the mailbox and takes all messages that were not sent.
    pub(super) fn close(&mut self) -> VecDeque<Mail> {
        self.mailbox.close();
        let mut rest = std::mem::take(&mut self.seen);
        rest.extend(self.mailbox.take().mail);
        rest
    }

    /// Moves what is in the mailbox to a new one. Whoever waits at the old one learns that it is closed.
    pub(super) fn replace_mailbox(&mut self) {
        self.mailbox = self.mailbox.replace();
    }

    /// Moves the messages that wait for the client to the memory of what may be resumed.
    pub(super) fn keep(&mut self, memory: &MemoryLimit) -> Result<(), NoMemory> {
        self.seen.iter_mut().try_for_each(|mail| mail.keep(memory))?;
        self.mailbox.try_for_each(|mail| mail.keep(memory))
    }
}

/// Whether an answer is an error. A result may be large; an error is not.
fn is_error(mail: &Mail) -> bool {
    mail.message.length() <= INLINE_BYTES
        && serde_json::from_slice::<Failed>(&mail.message.joined()).is_ok_and(|it| it.error)
}

/// Whether an answer is an error.
struct Failed {
    error: bool,
}

impl<'de> Deserialize<'de> for Failed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = std::collections::HashMap::<String, IgnoredAny>::deserialize(deserializer)?;
        Ok(Self { error: members.contains_key("error") })
    }
}
