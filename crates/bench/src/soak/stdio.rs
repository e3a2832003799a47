//! Clients on standard input and output: one that stays, and some that come and go.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::calls::{Call, HELLO, INITIALIZED};
use super::census::{descendants, left};
use super::http::Shared;
use super::tally::{Kind, Tally};
use crate::guard::cases::ON;
use crate::guard::toolbond;

/// What the calls of the client that stays are called in the report.
pub(super) const WAY: &str = "stdio";

/// How long calls may stay open at the end, and processes after their guard.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every so many calls the reader rests.
const REST_AFTER: usize = 500;

/// How long it does so.
const REST: Duration = Duration::from_millis(500);

struct Open {
    kind: Kind,
    call: Call,
    sent: Instant,
}

type Pending = Arc<Mutex<HashMap<usize, Open>>>;

/// A guard that stays, and its one client.
pub(super) struct Client {
    child: Child,
    stdin: ChildStdin,
    next: usize,
    pending: Pending,
    _reader: JoinHandle<()>,
}

fn guard() -> anyhow::Result<(Child, ChildStdin, BufReader<ChildStdout>)> {
    let mut command: Command = toolbond()?;
    command.args(ON).arg("--").arg(std::env::current_exe()?);
    command.args(["plain-server", "--stdio", "--costly"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let streams = child.stdin.take().zip(child.stdout.take());
    let (stdin, stdout) = streams.context("no standard streams")?;
    Ok((child, stdin, BufReader::with_capacity(64 << 10, stdout)))
}

fn locked(pending: &Pending) -> std::sync::MutexGuard<'_, HashMap<usize, Open>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    /// Starts the guard. What comes back is counted in `tally`.
    pub(super) fn start(tally: &Arc<Mutex<Arc<Tally>>>) -> anyhow::Result<Self> {
        let (child, stdin, stdout) = guard()?;
        let pending = Pending::default();
        let reader = thread::spawn({
            let (pending, tally) = (Arc::clone(&pending), Arc::clone(tally));
            move || read_all(stdout, &pending, &tally)
        });
        Ok(Self { child, stdin, next: 1, pending, _reader: reader })
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Calls of every kind on the one connection, until it is over and all are answered.
    pub(super) fn run(&mut self, shared: Shared<'_>) {
        let mut rounds = 0;
        while !shared.is_over.load(Relaxed) {
            let came = self.round(rounds, shared);
            if came.is_err() {
                shared.tally.add(WAY, Kind::Good, None, &came);
                break;
            }
            rounds += 1;
            thread::sleep(Duration::from_millis(50));
        }
        let started = Instant::now();
        while !locked(&self.pending).is_empty() && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        for (id, open) in locked(&self.pending).drain() {
            let came = Err(anyhow::anyhow!("no answer to {id}, {}", open.call.tool));
            shared.tally.add(WAY, open.kind, None, &came);
        }
    }

    /// Some good calls, and in turns the others.
    fn round(&mut self, round: usize, shared: Shared<'_>) -> anyhow::Result<()> {
        self.send(Kind::Good, Call::good())?;
        self.send(Kind::WrongArguments, Call::of_kind(Kind::WrongArguments, round, &[]))?;
        self.send(Kind::WrongResults, Call::of_kind(Kind::WrongResults, round, &[]))?;
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
                self.stdin,
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            )?;
            // Nobody has to answer what was cancelled.
            if let Some(open) = locked(&self.pending).remove(&id) {
                shared.tally.add(WAY, open.kind, None, &Ok(()));
            }
        }
        Ok(())
    }

    fn send(&mut self, kind: Kind, call: Call) -> anyhow::Result<usize> {
        let id = self.next;
        self.next += 1;
        let mut message = call.message(id, false);
        message.push('\n');
        locked(&self.pending).insert(id, Open { kind, call, sent: Instant::now() });
        self.stdin.write_all(message.as_bytes())?;
        Ok(id)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    id: Option<usize>,
}

/// Reads answers to the end and checks each.
fn read_all(mut stdout: BufReader<ChildStdout>, pending: &Pending, tally: &Mutex<Arc<Tally>>) {
    let (mut line, mut read) = (Vec::new(), 0);
    loop {
        line.clear();
        if stdout.read_until(b'\n', &mut line).unwrap_or_default() == 0 {
            return;
        }
        let Ok(Answer { id: Some(id) }) = serde_json::from_slice(&line) else { continue };
        let Some(open) = locked(pending).remove(&id) else { continue };
        let time = (open.kind == Kind::Good).then(|| open.sent.elapsed());
        let came = open.call.check(&line, id, false);
        let tally = Arc::clone(&tally.lock().unwrap_or_else(PoisonError::into_inner));
        tally.add(WAY, open.kind, time, &came);
        read += 1;
        if read % REST_AFTER == 0 {
            thread::sleep(REST);
        }
    }
}

/// Guards that are started, used a little, and ended, until it is over.
pub(super) fn come_and_go(shared: Shared<'_>) {
    let mut turn = 0;
    while !shared.is_over.load(Relaxed) {
        let came = visit(turn % 2 == 0);
        shared.tally.add("stdio, started anew", Kind::Sessions, None, &came);
        turn += 1;
        thread::sleep(Duration::from_millis(1500));
    }
}

/// One of them: it ends because its input ends, or is killed with a call open.
fn visit(ends_itself: bool) -> anyhow::Result<()> {
    let (mut child, mut stdin, mut stdout) = guard()?;
    let came = talk(&mut stdin, &mut stdout);
    let started = descendants(child.id());
    if ends_itself {
        drop(stdin);
        let waited = Instant::now();
        while child.try_wait()?.is_none() && waited.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(20));
        }
    } else {
        let _ = writeln!(stdin, "{}", Call::slow(5000).message(9, true));
    }
    let is_running = child.try_wait()?.is_none();
    let _ = child.kill();
    child.wait()?;
    came?;
    ensure!(!(ends_itself && is_running), "the guard did not end with its input");
    ensure!(!started.is_empty(), "the guard started no process");
    let count = left(&started, PATIENCE);
    ensure!(count == 0, "{count} processes outlived their guard");
    Ok(())
}

fn talk(stdin: &mut ChildStdin, stdout: &mut BufReader<ChildStdout>) -> anyhow::Result<()> {
    writeln!(stdin, "{HELLO}\n{INITIALIZED}")?;
    let call = Call::good();
    let mut line = Vec::new();
    stdout.read_until(b'\n', &mut line)?;
    for id in 1..=3 {
        writeln!(stdin, "{}", call.message(id, true))?;
        line.clear();
        stdout.read_until(b'\n', &mut line)?;
        call.check(&line, id, true)?;
    }
    Ok(())
}
