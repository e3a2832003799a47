//! What clients did and what they got.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{bail, ensure};
use serde_json::{Value, json};

use crate::plain::forecast;

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

#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) done: usize,
    pub(super) wrong: usize,
    pub(super) times: Vec<Duration>,
}

/// Counts of every way and kind, and the first wrong answers.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Mutex<BTreeMap<(&'static str, Kind), Count>>,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    /// Counts one thing that a client did. `time` is that of an answer that is measured.
    pub(super) fn add(
        &self,
        way: &'static str,
        kind: Kind,
        time: Option<Duration>,
        came: &anyhow::Result<()>,
    ) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry((way, kind)).or_default();
        count.done += 1;
        count.times.extend(time);
        if let Err(error) = came {
            count.wrong += 1;
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if wrong.len() < SHOWN {
                let text: String = format!("{error:#}").chars().take(300).collect();
                wrong.push(format!("{way}, {}: {text}", kind.name()));
            }
        }
    }

    pub(super) fn counts(&self) -> BTreeMap<(&'static str, Kind), Count> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first wrong answers.
    pub(super) fn wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Checks that an answer is the forecast, in the shape that the client's revision has.
pub(super) fn check_forecast(answer: &[u8], id: usize, is_legacy: bool) -> anyhow::Result<()> {
    let answer: Value = serde_json::from_slice(answer)?;
    let wanted = if is_legacy { json!({ "result": forecast() }) } else { forecast() };
    ensure!(answer["id"] == id, "expected an answer to {id}, found {answer}");
    ensure!(
        answer["result"]["structuredContent"] == wanted,
        "expected the forecast, found {answer}"
    );
    Ok(())
}

/// Checks that an answer refuses, and carries no data.
pub(super) fn check_refusal(answer: &[u8], id: usize) -> anyhow::Result<()> {
    let answer: Value = serde_json::from_slice(answer)?;
    ensure!(answer["id"] == id, "expected an answer to {id}, found {answer}");
    let result = &answer["result"];
    let refuses = answer["error"].is_object()
        || (result["isError"] == true && result.get("structuredContent").is_none());
    if refuses {
        return Ok(());
    }
    bail!("expected a refusal, found {answer}")
}
