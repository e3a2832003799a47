//! What clients did and what they got.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::stats::Times;

/// So many wrong answers are shown.
const SHOWN: usize = 10;

/// What a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Good,
    WrongArguments,
    WrongResults,
    Hostile,
    Slow,
    Leaving,
    Unread,
    Sessions,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Good => "good calls",
            Self::WrongArguments => "wrong arguments",
            Self::WrongResults => "wrong results",
            Self::Hostile => "out of budget",
            Self::Slow => "slow clients",
            Self::Leaving => "clients that leave",
            Self::Unread => "unread streams",
            Self::Sessions => "sessions",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) done: usize,
    pub(super) wrong: usize,
    pub(super) times: Times,
}

/// Counts of every way and kind, and the first wrong answers.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) counts: BTreeMap<(&'static str, Kind), Count>,
    pub(super) wrong: Vec<String>,
}

/// What all clients count in.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<Counts>);

impl Tally {
    /// Counts one thing that a client did, and how long a good call took.
    pub(super) fn add(
        &self,
        way: &'static str,
        kind: Kind,
        time: Duration,
        came: &anyhow::Result<()>,
    ) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.counts.entry((way, kind)).or_default();
        count.done += 1;
        if kind == Kind::Good {
            count.times.0.push(time);
        }
        if let Err(error) = came {
            count.wrong += 1;
            if counts.wrong.len() < SHOWN {
                let text: String = format!("{error:#}").chars().take(300).collect();
                counts.wrong.push(format!("{way}, {}: {text}", kind.name()));
            }
        }
    }

    /// The counts since the last time.
    pub(super) fn take(&self) -> Counts {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
