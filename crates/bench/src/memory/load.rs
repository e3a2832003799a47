//! What is sent to fill the guard's memory.

use crate::calls::Era;
use crate::plain::zeros;

/// What fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Arguments,
    Results,
    /// Event streams that are not read, with notifications below what counts as long.
    Unread,
    /// The same with notifications of 15 MiB.
    UnreadLong,
    /// A server that does not read.
    Deaf,
    Batches,
    /// Batches whose every call is refused.
    WrongBatches,
}

/// The most that a message may have, and a little less.
const LARGE: usize = (16 << 20) - 4096;

/// The bytes of a batch, and of a notification to a process that does not read.
const BATCH: usize = 15 << 20;

/// More notifications than any client could be sent in the time.
const ENDLESS: usize = 1_000_000;

/// The first id in a batch.
pub(super) const FIRST_OF_BATCHES: usize = 1000;

/// More than the calls of a batch.
const BATCH_IDS: usize = 200_000;

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Arguments,
        Self::Results,
        Self::Unread,
        Self::UnreadLong,
        Self::Deaf,
        Self::Batches,
        Self::WrongBatches,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Arguments => "16 MiB of [0,0,…] as arguments",
            Self::Results => "16 MiB of [0,0,…] as results",
            Self::Unread => "unread notifications, 60 kB each",
            Self::UnreadLong => "unread notifications, 15 MiB each",
            Self::Deaf => "notifications to a deaf server",
            Self::Batches => "15 MiB batches of small calls",
            Self::WrongBatches => "15 MiB batches of wrong calls",
        }
    }

    /// Whether nobody reads at one of the two ends. On one connection, more requests then go the way of the first.
    pub(super) const fn is_stuck(self) -> bool {
        matches!(self, Self::Unread | Self::UnreadLong | Self::Deaf)
    }

    /// The bytes of each notification of the server.
    pub(super) const fn notice(self) -> usize {
        if matches!(self, Self::UnreadLong) { BATCH } else { 60_000 }
    }

    /// The revision that its clients speak: batches are in one only.
    pub(super) const fn revision(self) -> &'static str {
        match self {
            Self::Batches | Self::WrongBatches => "2025-03-26",
            _ => "2025-11-25",
        }
    }

    /// The request of a client. A batch has ids that no other client uses.
    pub(super) fn request(self, client: usize) -> String {
        let call = |tool, arguments: &str| Era::Legacy.call(100 + client, tool, arguments);
        match self {
            // Longer than the answers, so that these fit into a message, too.
            Self::Batches => batch("count", &zeros(40), client),
            Self::WrongBatches => batch("forecast", "0", client),
            Self::Arguments => call("count", &format!(r#"{{"values":{}}}"#, zeros(LARGE))),
            Self::Unread | Self::UnreadLong => {
                call("notify", &format!(r#"{{"count":{ENDLESS},"bytes":{}}}"#, self.notice()))
            }
            Self::Results => call("zeros", "{}"),
            Self::Deaf => call("deafen", "{}"),
        }
    }
}

/// A batch of calls with these values.
fn batch(tool: &str, values: &str, client: usize) -> String {
    let arguments = format!(r#"{{"values":{values}}}"#);
    let mut text = String::with_capacity(BATCH + 256);
    for id in FIRST_OF_BATCHES + client * BATCH_IDS.. {
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push_str(&Era::Legacy.call(id, tool, &arguments));
        if text.len() >= BATCH {
            break;
        }
    }
    text.push(']');
    text
}

/// A long notification of a client.
pub(super) fn notification() -> String {
    let data = "x".repeat(BATCH);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/bench","params":{{"data":"{data}"}}}}"#)
}
