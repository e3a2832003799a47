//! What a guard saw: counts, verdicts and costs, for those who look at them.

mod board;
mod metrics;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use serde::Serialize;
use toolpact_contract::{Action, Finding, Outcome, Revision, Side};

pub use board::Board;

use crate::Event;
use crate::inspector::lock;

/// The tools that are counted each for itself; what is beyond is counted together.
pub const MAX_TOOLS: usize = 200;

/// The name under which everything else is counted.
pub const OTHER: &str = "other tools";

/// The longest name of a tool that is counted for itself, in bytes.
const MAX_NAME: usize = 128;

/// The findings that are kept of one tool.
const MAX_FINDINGS: usize = 8;

/// The slowest validations that are kept.
const SLOWEST: usize = 10;

/// The revisions that are kept.
const MAX_REVISIONS: usize = 8;

/// What happened with one server since its guard started.
#[derive(Debug, Default)]
pub struct Status(Mutex<Snapshot>);

/// What a [`Status`] was at one time.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// What the server says it is: name and version.
    pub server: Option<String>,
    /// The revisions that it was talked to in.
    pub revisions: BTreeSet<String>,
    /// Its tools by name, with what is known of them; at most [`MAX_TOOLS`] and [`OTHER`].
    pub tools: BTreeMap<String, Tool>,
    /// The validations that took longest, the longest one first.
    pub slowest: Vec<Slow>,
    /// Lines said about the connection and about lists as a whole.
    pub notices: u64,
}

/// What is known of one tool.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Tool {
    /// What became of it when it was last listed.
    pub verdict: Standing,
    /// The findings about it, as lines; at most eight.
    pub findings: Vec<String>,
    /// Calls that came, refused ones included.
    pub calls: u64,
    /// Of its arguments.
    pub arguments: Judged,
    /// Of its results.
    pub results: Judged,
}

/// What became of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Standing {
    /// It was not listed yet.
    #[default]
    Unknown,
    /// Clients get it.
    Kept,
    /// Clients get it without a member of it, or repaired.
    Changed,
    /// Clients do not get it.
    Dropped,
}

/// Validations of one kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Judged {
    /// How many kept the contract.
    pub valid: u64,
    /// How many broke it.
    pub invalid: u64,
    /// How many a limit ended.
    pub unfinished: u64,
    /// The steps that they took, in all.
    pub fuel: u64,
    /// The time that they took, in all.
    #[serde(rename = "microseconds", serialize_with = "microseconds")]
    pub time: Duration,
}

/// One validation that took long.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Slow {
    /// The tool.
    pub tool: String,
    /// Its arguments or its result.
    pub side: Side,
    /// How long it took.
    #[serde(rename = "microseconds", serialize_with = "microseconds")]
    pub time: Duration,
    /// The steps that it took.
    pub fuel: u64,
}

fn microseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// One validation, as it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) side: Side,
    pub(crate) outcome: Outcome,
    pub(crate) fuel: u64,
    pub(crate) time: Duration,
}

impl Status {
    /// What it is at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        lock(&self.0).clone()
    }

    /// What the server says of itself.
    pub(crate) fn met(&self, server: Option<String>, revision: Option<&Revision>) {
        let mut all = lock(&self.0);
        if let Some(server) = server {
            all.server = Some(server.chars().take(MAX_NAME).collect());
        }
        if let Some(revision) = revision {
            all.speaks(revision);
        }
    }

    /// A tool was listed.
    pub(crate) fn listed(&self, tool: &str, findings: &[Finding], verdict: Standing) {
        let mut all = lock(&self.0);
        let entry = all.tool(tool);
        entry.verdict = verdict;
        entry.findings = findings.iter().take(MAX_FINDINGS).map(ToString::to_string).collect();
    }

    /// A call came.
    pub(crate) fn called(&self, tool: &str, revision: &Revision) {
        let mut all = lock(&self.0);
        all.speaks(revision);
        all.tool(tool).calls += 1;
    }

    /// A validation ended.
    pub(crate) fn judged(&self, tool: &str, check: Check) {
        let mut all = lock(&self.0);
        let entry = all.tool(tool);
        let judged =
            if check.side == Side::Arguments { &mut entry.arguments } else { &mut entry.results };
        match check.outcome {
            Outcome::Valid => judged.valid += 1,
            Outcome::Invalid => judged.invalid += 1,
            Outcome::Unfinished => judged.unfinished += 1,
            _ => return,
        }
        judged.fuel = judged.fuel.saturating_add(check.fuel);
        judged.time += check.time;
        all.slow(tool, check);
    }

    pub(crate) fn said(&self, event: &Event) {
        if matches!(event, Event::Notice { .. }) {
            lock(&self.0).notices += 1;
        }
    }
}

impl Snapshot {
    fn tool(&mut self, name: &str) -> &mut Tool {
        let room = self.tools.len() < MAX_TOOLS && name.len() <= MAX_NAME;
        let name = if room || self.tools.contains_key(name) { name } else { OTHER };
        self.tools.entry(name.to_owned()).or_default()
    }

    fn speaks(&mut self, revision: &Revision) {
        let name = revision.to_string();
        if self.revisions.len() < MAX_REVISIONS && name.len() <= MAX_NAME {
            self.revisions.insert(name);
        }
    }

    fn slow(&mut self, tool: &str, check: Check) {
        let is_full = self.slowest.len() >= SLOWEST;
        if is_full && self.slowest.last().is_some_and(|last| last.time >= check.time) {
            return;
        }
        let tool = if tool.len() <= MAX_NAME { tool } else { OTHER };
        let slow =
            Slow { tool: tool.to_owned(), side: check.side, time: check.time, fuel: check.fuel };
        let at = self.slowest.partition_point(|other| other.time >= check.time);
        self.slowest.insert(at, slow);
        self.slowest.truncate(SLOWEST);
    }
}

impl Standing {
    /// What the findings about a tool say of it.
    pub(crate) fn of(findings: &[Finding]) -> Self {
        let did = |action| findings.iter().any(|finding| finding.action == action);
        if did(Action::ToolDropped) {
            Self::Dropped
        } else if did(Action::MemberDropped) || did(Action::Repaired) {
            Self::Changed
        } else {
            Self::Kept
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolpact_contract::{Outcome, Revision, Side};

    use super::{Check, MAX_TOOLS, OTHER, SLOWEST, Status};

    #[test]
    fn keeps_a_bounded_number_of_everything() {
        let status = Status::default();
        for n in 0..2 * MAX_TOOLS {
            let tool = format!("tool{n}");
            status.called(&tool, &Revision::from(format!("r{n}").as_str()));
            let time = Duration::from_micros(n as u64);
            let check = Check { side: Side::Result, outcome: Outcome::Valid, fuel: 1, time };
            status.judged(&tool, check);
        }
        status.called(&"x".repeat(10_000), &Revision::V2025_11_25);
        let snapshot = status.snapshot();
        assert_eq!(snapshot.tools.len(), MAX_TOOLS + 1);
        assert_eq!(snapshot.tools[OTHER].calls, MAX_TOOLS as u64 + 1);
        assert!(snapshot.revisions.len() <= super::MAX_REVISIONS);
        assert_eq!(snapshot.slowest.len(), SLOWEST);
        assert_eq!(snapshot.slowest[0].tool, format!("tool{}", 2 * MAX_TOOLS - 1));
        assert!(snapshot.slowest.is_sorted_by(|a, b| a.time >= b.time));
    }
}
