//! What is sent to fill the guard's memory.

use crate::plain::zeros;

/// The way that messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Clients on HTTP, a server on HTTP.
    Http,
    /// Clients on HTTP, each with a session and so a process of its own.
    Process,
    /// One client and one process.
    Stdio,
}

impl Way {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Process => "process",
            Self::Stdio => "stdio",
        }
    }

    pub(super) const fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Http => &[
                Kind::Arguments,
                Kind::Results,
                Kind::Unread,
                Kind::UnreadLong,
                Kind::Batches,
                Kind::WrongBatches,
            ],
            Self::Process | Self::Stdio => &[
                Kind::Arguments,
                Kind::Results,
                Kind::Unread,
                Kind::UnreadLong,
                Kind::Deaf,
                Kind::Batches,
                Kind::WrongBatches,
            ],
        }
    }
}

/// What fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Arguments,
    Results,
    /// Event streams that are not read, with notifications below what counts as long.
    Unread,
    /// The same with notifications of 15 MiB.
    UnreadLong,
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

impl Kind {
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

    /// Whether more requests change nothing, because all of them go the way of the first.
    pub(super) const fn is_one_process(self) -> bool {
        matches!(self, Self::Unread | Self::UnreadLong | Self::Deaf)
    }

    pub(super) const fn is_batch(self) -> bool {
        matches!(self, Self::Batches | Self::WrongBatches)
    }

    pub(super) const fn is_unread(self) -> bool {
        matches!(self, Self::Unread | Self::UnreadLong)
    }

    /// The bytes of each notification of the server.
    pub(super) const fn notice(self) -> usize {
        match self {
            Self::UnreadLong => BATCH,
            _ => 60_000,
        }
    }

    /// The revision that its clients speak: batches are in one only.
    pub(super) const fn revision(self) -> &'static str {
        match self {
            Self::Batches | Self::WrongBatches => "2025-03-26",
            _ => "2025-11-25",
        }
    }

    /// The tool that is called.
    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Arguments | Self::Batches => "count",
            Self::WrongBatches => "forecast",
            Self::Results => "zeros",
            Self::Unread | Self::UnreadLong => "notify",
            Self::Deaf => "deafen",
        }
    }

    /// The request that a client sends, apart from its id, in two parts. A batch has ids of its own,
    /// which no other client uses.
    pub(super) fn request(self, client: usize) -> [String; 2] {
        let tool = self.tool();
        let arguments = match self {
            // Longer than the answers, so that these fit into a message, too.
            Self::Batches => return [String::new(), batch(tool, &zeros(40), client)],
            Self::WrongBatches => return [String::new(), batch(tool, "0", client)],
            Self::Arguments => format!(r#"{{"values":{}}}"#, zeros(LARGE)),
            Self::Unread | Self::UnreadLong => {
                format!(r#"{{"count":{ENDLESS},"bytes":{}}}"#, self.notice())
            }
            Self::Results | Self::Deaf => "{}".to_owned(),
        };
        let start = r#"{"jsonrpc":"2.0","id":"#.to_owned();
        let rest = format!(
            r#","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        );
        [start, rest]
    }
}

/// The first id in a batch.
pub(super) const FIRST_OF_BATCHES: usize = 1000;

/// More than the calls of a batch.
const BATCH_IDS: usize = 200_000;

/// A batch of calls with these values.
fn batch(tool: &str, values: &str, client: usize) -> String {
    let mut text = String::with_capacity(BATCH + 256);
    let rest = format!(
        r#","method":"tools/call","params":{{"name":"{tool}","arguments":{{"values":{values}}}}}}}"#
    );
    let first = FIRST_OF_BATCHES + client * BATCH_IDS;
    let mut id = first;
    while text.len() < BATCH {
        text.push(if id == first { '[' } else { ',' });
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        text.push_str(&id.to_string());
        text.push_str(&rest);
        id += 1;
    }
    text.push(']');
    text
}

/// A long notification of a client.
pub(super) fn notification() -> String {
    let data = "x".repeat(BATCH);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/bench","params":{{"data":"{data}"}}}}"#)
}
