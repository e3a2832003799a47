//! What a guard has seen of a server: counts, verdicts and costs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use toolbond_contract::{Action, Finding, Outcome, Revision, Severity, Side, judge::CallCheck};
use toolbond_guard_core::environment::{Record, ToolStatus};

use crate::clock::utc;
use toolbond_guard_core::event::{CallSource, Event};
use toolbond_guard_core::lock::lock;

/// The most tools that are counted one by one; the rest is counted together.
pub(crate) const MAX_TOOLS: usize = 200;

/// The name under which the rest is counted.
pub(crate) const OTHER: &str = "other tools";

/// The longest name of a tool that is counted on its own, in bytes.
const MAX_NAME: usize = 128;

/// The findings that are kept of one tool.
const MAX_FINDINGS: usize = 8;

/// The slowest validations that are kept.
const SLOWEST: usize = 10;

/// The newest calls that failed, and the newest notices, that are kept.
const RECENT: usize = 50;

/// The most characters of what is kept of each.
const MAX_MESSAGE: usize = 500;

/// The revisions that are kept.
const MAX_REVISIONS: usize = 8;

/// What happened with one server since the guard started.
#[derive(Debug, Default)]
pub(crate) struct Status(Mutex<Snapshot>);

/// A [`Status`] at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Snapshot {
    /// Name and version of the server, as it says.
    pub(crate) server: Option<String>,
    /// The protocol revisions that clients used.
    pub(crate) revisions: BTreeSet<String>,
    /// Its tools by name; at most [`MAX_TOOLS`] and [`OTHER`].
    pub(crate) tools: BTreeMap<String, Tool>,
    /// The slowest validations, slowest first.
    pub(crate) slowest: Vec<Slow>,
    /// Notices about connections, messages and lists as a whole.
    pub(crate) notices: u64,
    /// Why the server is not connected, or what was wrong with it last, since its last handshake.
    pub(crate) trouble: Option<String>,
    /// The newest calls that were refused, that failed, or whose result was withheld; newest first.
    pub(crate) failed_calls: VecDeque<FailedCall>,
    /// The newest notices, newest first.
    pub(crate) last_notices: VecDeque<Notice>,
}

/// A call that was refused or failed, or whose result was withheld or wrong.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FailedCall {
    #[serde(serialize_with = "as_utc")]
    pub(crate) time: SystemTime,
    pub(crate) tool: String,
    /// What the client calls itself.
    pub(crate) client: Option<String>,
    /// The id of its request, as JSON.
    pub(crate) request: Option<String>,
    pub(crate) message: String,
}

/// A notice about a connection, a message or a list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Notice {
    #[serde(serialize_with = "as_utc")]
    pub(crate) time: SystemTime,
    pub(crate) severity: Severity,
    pub(crate) message: String,
}

fn as_utc<S: serde::Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&utc(*time))
}

/// One tool.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tool {
    /// Its status when it was last listed.
    pub(crate) verdict: ToolStatus,
    /// The findings about it, as lines; at most eight.
    pub(crate) findings: Vec<String>,
    /// What clients get of its output schema.
    pub(crate) output_schema: OutputSchema,
    /// Calls, refused ones included.
    pub(crate) calls: u64,
    /// Validations of its arguments.
    pub(crate) arguments: Checks,
    /// Validations of its results.
    pub(crate) results: Checks,
}

/// What clients get of an output schema under `--results repair`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputSchema {
    /// That of its author: the server has not broken it.
    #[default]
    Kept,
    /// One that its server keeps.
    Relaxed,
    /// None.
    Dropped,
}

/// Validations of one kind.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Checks {
    /// How many found the value valid.
    pub(crate) valid: u64,
    /// How many found it invalid and repaired it.
    pub(crate) repaired: u64,
    /// How many found it invalid.
    pub(crate) invalid: u64,
    /// How many a limit stopped.
    pub(crate) unfinished: u64,
    /// The fuel that they took in total.
    pub(crate) fuel: u64,
    /// The time that they took in total.
    #[serde(rename = "microseconds", serialize_with = "microseconds")]
    pub(crate) time: Duration,
}

/// A slow validation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Slow {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments or its result.
    pub(crate) side: Side,
    /// How long it took.
    #[serde(rename = "microseconds", serialize_with = "microseconds")]
    pub(crate) time: Duration,
    /// The fuel that it took.
    pub(crate) fuel: u64,
}

fn microseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

impl Tool {
    /// Whether clients get something else than the server lists, or nothing.
    pub(crate) fn is_changed(&self) -> bool {
        !matches!(self.verdict, ToolStatus::Unknown | ToolStatus::Kept)
            || self.output_schema != OutputSchema::Kept
    }
}

impl Status {
    /// A copy of the counts at this moment.
    pub(crate) fn snapshot(&self) -> Snapshot {
        lock(&self.0).clone()
    }

    /// Counts `record`.
    pub(crate) fn record(&self, record: &Record<'_>) {
        match record {
            Record::Handshake { server, revision } => {
                self.record_handshake(server.as_deref(), *revision);
            }
            Record::Tool { name, findings, status } => {
                self.record_tool(name, findings, *status);
            }
            Record::BrokenOutput { tool, learned } => {
                let output = if learned.relaxation().is_some() {
                    OutputSchema::Relaxed
                } else {
                    OutputSchema::Dropped
                };
                lock(&self.0).tool_mut(tool).output_schema = output;
            }
            Record::Call { tool, revision, .. } => {
                self.record_call(tool.unwrap_or(OTHER), revision);
            }
            Record::Failed { tool, source, message } => {
                self.record_failure(tool, source, message);
            }
            Record::Check { tool, check, .. } => self.record_check(tool, check),
        }
    }

    /// Records what the server says about itself.
    fn record_handshake(&self, server: Option<&str>, revision: Option<&Revision>) {
        let mut all = lock(&self.0);
        all.trouble = None;
        if let Some(server) = server {
            all.server = Some(server.chars().take(MAX_NAME).collect());
        }
        if let Some(revision) = revision {
            all.add_revision(revision);
        }
    }

    /// Records a listed tool.
    fn record_tool(&self, tool: &str, findings: &[Finding], verdict: ToolStatus) {
        let mut all = lock(&self.0);
        let entry = all.tool_mut(tool);
        entry.verdict = verdict;
        // A new version starts afresh. What is known of this one is recorded next.
        entry.output_schema = OutputSchema::default();
        entry.findings = findings.iter().take(MAX_FINDINGS).map(ToString::to_string).collect();
    }

    /// Records a call.
    fn record_call(&self, tool: &str, revision: &Revision) {
        let mut all = lock(&self.0);
        all.add_revision(revision);
        all.tool_mut(tool).calls += 1;
    }

    /// Records a validation.
    fn record_check(&self, tool: &str, check: &CallCheck) {
        let mut all = lock(&self.0);
        let entry = all.tool_mut(tool);
        let checks =
            if check.side == Side::Arguments { &mut entry.arguments } else { &mut entry.results };
        match check.outcome {
            Outcome::Valid => checks.valid += 1,
            Outcome::Repaired => checks.repaired += 1,
            Outcome::Invalid => checks.invalid += 1,
            Outcome::Unfinished => checks.unfinished += 1,
            _ => return,
        }
        checks.fuel = checks.fuel.saturating_add(check.fuel);
        checks.time += check.time;
        all.add_slow(tool, check);
    }

    /// Records a call that was refused or failed, for this reason.
    fn record_failure(&self, tool: &str, source: &CallSource, message: &str) {
        let failed = FailedCall {
            time: SystemTime::now(),
            tool: shortened(tool),
            client: source.shown_client(),
            request: source.shown_id(),
            message: shortened(message),
        };
        add_newest(&mut lock(&self.0).failed_calls, failed);
    }

    /// Records a notice, or findings about a call that were not repaired.
    pub(crate) fn record_event(&self, event: &Event) {
        match event {
            Event::Notice { severity, message, .. } => {
                let mut all = lock(&self.0);
                all.notices += 1;
                let is_trouble = *severity > Severity::Info;
                if let Some(trouble) = message.strip_prefix("server: ").filter(|_| is_trouble) {
                    all.trouble = Some(shortened(trouble));
                }
                let (time, message) = (SystemTime::now(), shortened(message));
                add_newest(&mut all.last_notices, Notice { time, severity: *severity, message });
            }
            Event::Call { findings, source } => {
                let is_kept = |finding: &&Finding| {
                    finding.severity > Severity::Info && finding.action != Action::Repaired
                };
                let kept: Vec<_> = findings.iter().filter(is_kept).collect();
                let Some(first) = kept.first() else { return };
                let tool = first.tool.as_deref().unwrap_or(OTHER);
                self.record_failure(tool, source, &describe(&kept));
            }
            _ => {}
        }
    }
}

/// What is wrong with a call, in one line.
fn describe(findings: &[&Finding]) -> String {
    let one = |finding: &&Finding| {
        let side = finding.side.map_or_else(String::new, |side| format!("{side} "));
        format!("{side}{}: {}", finding.pointer, finding.message)
    };
    let all = findings.iter().map(one).collect::<Vec<_>>().join("; ");
    match findings.first().map_or(Action::None, |finding| finding.action) {
        Action::None => all,
        action => format!("{action}: {all}"),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}

/// Adds `item` as the newest; the oldest makes room.
fn add_newest<T>(all: &mut VecDeque<T>, item: T) {
    all.truncate(RECENT - 1);
    all.push_front(item);
}

impl Snapshot {
    fn tool_mut(&mut self, name: &str) -> &mut Tool {
        let room = self.tools.len() < MAX_TOOLS && name.len() <= MAX_NAME;
        let name = if room || self.tools.contains_key(name) { name } else { OTHER };
        self.tools.entry(name.to_owned()).or_default()
    }

    fn add_revision(&mut self, revision: &Revision) {
        let name = revision.to_string();
        if self.revisions.len() < MAX_REVISIONS && name.len() <= MAX_NAME {
            self.revisions.insert(name);
        }
    }

    fn add_slow(&mut self, tool: &str, check: &CallCheck) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolbond_contract::{Outcome, Revision, Side, judge::CallCheck};
    use toolbond_guard_core::environment::{Record, ToolStatus};
    use toolbond_guard_core::learned::Learned;

    use super::{
        CallSource, Event, MAX_MESSAGE, MAX_TOOLS, OTHER, OutputSchema, RECENT, SLOWEST, Status,
    };

    #[test]
    fn a_tool_whose_server_repaired_its_schema_no_longer_breaks_it() {
        let status = Status::default();
        let found = || status.snapshot().tools["t"].output_schema;
        let learned = Learned::gone();
        status.record(&Record::BrokenOutput { tool: "t", learned: &learned });
        assert_eq!(found(), OutputSchema::Dropped);
        status.record(&Record::Tool { name: "t", findings: &[], status: ToolStatus::Kept });
        assert_eq!(found(), OutputSchema::Kept);
    }

    #[test]
    fn keeps_a_bounded_number_of_everything() {
        let status = Status::default();
        for n in 0..2 * MAX_TOOLS {
            let tool = format!("tool{n}");
            status.record_call(&tool, &Revision::from(format!("r{n}").as_str()));
            let time = Duration::from_micros(n as u64);
            let check = CallCheck { side: Side::Result, outcome: Outcome::Valid, fuel: 1, time };
            status.record_check(&tool, &check);
        }
        status.record_call(&"x".repeat(10_000), &Revision::V2025_11_25);
        for n in 0..3 * RECENT {
            status.record_failure("tool", &CallSource::default(), &"x".repeat(10_000));
            status.record_event(&Event::warning(format!("server: {n}")));
        }
        let snapshot = status.snapshot();
        assert_eq!(snapshot.failed_calls.len(), RECENT);
        assert!(snapshot.failed_calls.iter().all(|it| it.message.len() == MAX_MESSAGE));
        assert_eq!(snapshot.last_notices.len(), RECENT);
        let last = format!("{}", 3 * RECENT - 1);
        assert_eq!(snapshot.trouble.as_ref(), Some(&last));
        assert_eq!(snapshot.last_notices[0].message, format!("server: {last}"));
        assert_eq!(snapshot.tools.len(), MAX_TOOLS + 1);
        assert_eq!(snapshot.tools[OTHER].calls, MAX_TOOLS as u64 + 1);
        assert!(snapshot.revisions.len() <= super::MAX_REVISIONS);
        assert_eq!(snapshot.slowest.len(), SLOWEST);
        assert_eq!(snapshot.slowest[0].tool, format!("tool{}", 2 * MAX_TOOLS - 1));
        assert!(snapshot.slowest.is_sorted_by(|a, b| a.time >= b.time));
    }
}
