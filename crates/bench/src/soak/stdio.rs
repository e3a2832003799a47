//! Clients on standard input and output: one that stays, and some that come and go.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use toolbond_harness::guard::ENFORCE;
use toolbond_harness::process::{Process, toolbond};

use super::calls::Call;
use super::census::{descendants, left};
use super::http::Shared;
use super::tally::{Kind, Tally};
use crate::calls::Era;
use crate::lines::{Lines, Output};
use crate::serve;

/// What the calls of the client that stays are called in the report.
const WAY: &str = "stdio";

/// How long calls may stay open at the end, and processes after their guard.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every so many calls the reader rests.
const REST_AFTER: usize = 500;

/// How long it does so.
const REST: Duration = Duration::from_millis(500);

/// Calls by their ids, and when they were sent.
type Calls = HashMap<usize, (Kind, Call, Instant)>;

/// The calls that are not answered yet.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<Calls>>);

impl Pending {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that stays, and its one client.
pub(super) struct Client {
    pub(super) guard: Process,
    input: ChildStdin,
    next: usize,
    pending: Pending,
}

fn guard() -> anyhow::Result<Lines> {
    let mut command = toolbond(&["guard"]);
    command.args(ENFORCE).arg("--").args(serve::words(&["plain", "stdio", "--costly"])?);
    Lines::start(command)
}

impl Client {
    /// Starts the guard. What comes back is counted in `tally`.
    pub(super) fn start(tally: &Arc<Tally>) -> anyhow::Result<Self> {
        let Lines { process, input, output } = guard()?;
        let pending = Pending::default();
        thread::spawn({
            let (pending, tally) = (pending.clone(), Arc::clone(tally));
            move || read_all(output, &pending, &tally)
        });
        Ok(Self { guard: process, input, next: 1, pending })
    }

    /// Calls of every kind on the one connection, until it is over and all are answered.
    pub(super) fn run(&mut self, shared: Shared<'_>) {
        for round in (0..).take_while(|_| !shared.is_over.load(Relaxed)) {
            let came = self.round(round, shared);
            if came.is_err() {
                shared.tally.add(WAY, Kind::Good, Duration::ZERO, &came);
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let started = Instant::now();
        while !self.pending.calls().is_empty() && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        for (id, (kind, call, sent)) in self.pending.calls().drain() {
            let came = Err(anyhow!("no answer to {id}, {}", call.tool));
            shared.tally.add(WAY, kind, sent.elapsed(), &came);
        }
    }

    /// Some good calls, and in turns the others.
    fn round(&mut self, round: usize, shared: Shared<'_>) -> anyhow::Result<()> {
        for kind in [Kind::Good, Kind::WrongArguments, Kind::WrongResults] {
            self.send(kind, Call::of_kind(kind, round, &[]))?;
        }
        if round.is_multiple_of(30) {
            let call = Call::of_kind(Kind::Hostile, round / 30, shared.costly);
            self.send(Kind::Hostile, call)?;
        }
        if round.is_multiple_of(10) {
            self.send(Kind::Slow, Call::slow(300))?;
        }
        if round.is_multiple_of(20) {
            self.send(Kind::Unread, Call::notify(50, 10_000))?;
            let id = self.send(Kind::Leaving, Call::notify(1, 10))?;
            writeln!(
                self.input,
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            )?;
            // Nobody has to answer what was cancelled.
            if let Some((kind, _, sent)) = self.pending.calls().remove(&id) {
                shared.tally.add(WAY, kind, sent.elapsed(), &Ok(()));
            }
        }
        Ok(())
    }

    fn send(&mut self, kind: Kind, call: Call) -> anyhow::Result<usize> {
        let id = self.next;
        self.next += 1;
        let message = call.message(id, Era::Modern) + "\n";
        self.pending.calls().insert(id, (kind, call, Instant::now()));
        self.input.write_all(message.as_bytes())?;
        Ok(id)
    }
}

/// Reads answers to the end and checks each.
fn read_all(mut output: Output, pending: &Pending, tally: &Tally) {
    let mut read = 0;
    while let Ok((id, line)) = output.answer() {
        let Some((kind, call, sent)) = pending.calls().remove(&id) else { continue };
        let time = sent.elapsed();
        tally.add(WAY, kind, time, &call.check(&line, id, Era::Modern));
        read += 1;
        if read % REST_AFTER == 0 {
            thread::sleep(REST);
        }
    }
}

/// Guards that are started, used a little, and ended, until it is over.
pub(super) fn come_and_go(shared: Shared<'_>) {
    for turn in (0..).take_while(|_| !shared.is_over.load(Relaxed)) {
        let came = visit(turn % 2 == 0);
        shared.tally.add("stdio, started anew", Kind::Sessions, Duration::ZERO, &came);
        thread::sleep(Duration::from_millis(1500));
    }
}

/// One of them: it ends because its input ends, or is killed with a call open.
fn visit(ends_itself: bool) -> anyhow::Result<()> {
    let mut lines = guard()?;
    lines.shake_hands(Era::Legacy.hello())?;
    for id in 1..=3 {
        let answer = lines.ask(&Call::good().message(id, Era::Legacy))?;
        Call::good().check(&answer, id, Era::Legacy)?;
    }
    let started = descendants(lines.process.id());
    if !ends_itself {
        lines.send(&Call::slow(5000).message(9, Era::Legacy))?;
    }
    let Lines { process: mut guard, input, output } = lines;
    if ends_itself {
        drop(input);
        let waited = Instant::now();
        while guard.child.try_wait()?.is_none() {
            ensure!(waited.elapsed() < PATIENCE, "the guard did not end with its input");
            thread::sleep(Duration::from_millis(20));
        }
    }
    drop((guard, output));
    ensure!(!started.is_empty(), "the guard started no process");
    let count = left(&started, PATIENCE);
    ensure!(count == 0, "{count} processes outlived their guard");
    Ok(())
}
