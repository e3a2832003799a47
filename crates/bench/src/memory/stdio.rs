//! A client on standard input and output that tries to fill the guard's memory.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::http::{hello, is_refusal};
use super::load::{self, Kind, notification};
use super::ordinary::{PAUSE, Times, is_forecast};
use super::peak::Watch;
use super::{Answers, Ended, HOLD, PATIENCE, Row};
use crate::guard::cases::ON;
use crate::guard::toolbond;

/// The ids of ordinary calls begin here; a batch has the id 0.
const ORDINARY: u64 = 100_000_000;

/// Answers to single calls of a batch, whose answers come together, do not count.
const FIRST_OF_BATCHES: u64 = load::FIRST_OF_BATCHES as u64;

/// How long ordinary calls may stay open after the others.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A guard that ends with this.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the reader has read: the id, the beginning, and when.
type Read = (u64, Vec<u8>, Instant);

/// Starts a guard, keeps so many requests open and ends it.
pub(super) fn run(kind: Kind, clients: usize, ceiling: u64) -> anyhow::Result<Row> {
    let mut command = toolbond()?;
    command.args(ON).arg("--").arg(std::env::current_exe()?).args(["plain-server", "--stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let streams = child.stdin.take().zip(child.stdout.take());
    let (stdin, stdout) = streams.context("no standard streams")?;
    let watch = Watch::start(child.id(), Guard(child), ceiling);
    let mut stdout = BufReader::with_capacity(64 << 10, stdout);
    let stdin = Arc::new(Mutex::new(stdin));
    let started = Instant::now();
    let attacked = greet(kind, &stdin, &mut stdout).map(|()| match kind {
        kind if kind.is_unread() || kind == Kind::Deaf => stuck(kind, &stdin, stdout),
        _ => answered(kind, clients, &stdin, stdout, &watch),
    });
    let took = started.elapsed();
    // What still writes or reads ends with the guard.
    let peak = watch.finish()?;
    let (answers, ordinary) = attacked?;
    Ok(Row { peak, took, answers, ordinary })
}

fn send(stdin: &Mutex<ChildStdin>, parts: &[&str]) -> anyhow::Result<Instant> {
    let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
    let started = Instant::now();
    for part in parts {
        stdin.write_all(part.as_bytes())?;
    }
    stdin.write_all(b"\n")?;
    Ok(started)
}

/// Shakes hands, and has the guard ask for the list.
fn greet(
    kind: Kind,
    stdin: &Mutex<ChildStdin>,
    stdout: &mut BufReader<ChildStdout>,
) -> anyhow::Result<()> {
    send(stdin, &[&hello(kind.revision())])?;
    read(stdout)?;
    send(stdin, &[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#])?;
    send(stdin, &[&ordinary(1)])?;
    read(stdout)?;
    Ok(())
}

fn ordinary(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"forecast","arguments":{{"city":"Zürich"}}}}}}"#
    )
}

/// Nobody reads at one of the two ends.
fn stuck(
    kind: Kind,
    stdin: &Arc<Mutex<ChildStdin>>,
    mut stdout: BufReader<ChildStdout>,
) -> (Answers, Times) {
    let [start, rest] = kind.request(0);
    let mut answers = Answers::default();
    let sent = send(stdin, &[&start, "2", &rest]);
    answers.add(if sent.is_ok() { Ended::Accepted } else { Ended::Missing });
    if kind == Kind::Deaf && read(&mut stdout).is_ok() {
        let (sender, receiver) = mpsc::channel();
        let (stdin, notification) = (Arc::clone(stdin), notification());
        thread::spawn(move || {
            while send(&stdin, &[&notification]).is_ok() {
                if sender.send(()).is_err() {
                    break;
                }
            }
        });
        thread::sleep(HOLD);
        answers.accepted += receiver.try_iter().count();
    } else {
        thread::sleep(HOLD);
    }
    (answers, Times::default())
}

/// So many requests at a time, each of which is answered, and ordinary calls between them.
fn answered(
    kind: Kind,
    clients: usize,
    stdin: &Arc<Mutex<ChildStdin>>,
    mut stdout: BufReader<ChildStdout>,
    watch: &Watch,
) -> (Answers, Times) {
    let (sender, receiver) = mpsc::channel::<Read>();
    thread::spawn(move || {
        while let Ok((id, beginning)) = read(&mut stdout) {
            if sender.send((id, beginning, Instant::now())).is_err() {
                break;
            }
        }
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(Mutex::new(HashMap::new()));
    let other = thread::spawn({
        let (stdin, is_over, asked) = (Arc::clone(stdin), Arc::clone(&is_over), Arc::clone(&asked));
        move || {
            for id in ORDINARY.. {
                if is_over.load(Relaxed) {
                    break;
                }
                let call = ordinary(id);
                // From when the call could be sent at all: lines go one after the other.
                asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id, Instant::now());
                let Ok(started) = send(&stdin, &[&call]) else { break };
                asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id, started);
                thread::sleep(PAUSE);
            }
        }
    });
    thread::spawn({
        let stdin = Arc::clone(stdin);
        move || {
            let is_batch = kind.is_batch();
            let [mut start, mut rest] = kind.request(0);
            for client in 0..clients {
                if is_batch {
                    [start, rest] = kind.request(client);
                }
                let id = (100 + client).to_string();
                let parts: [&str; 3] =
                    if is_batch { [&rest, "", ""] } else { [&start, &id, &rest] };
                if send(&stdin, &parts).is_err() {
                    break;
                }
            }
        }
    });
    let (answers, mut read) = collect(clients, &receiver);
    is_over.store(true, Relaxed);
    // The other one may be waiting for its turn to write; it ends with the guard.
    drop(other);
    let deadline = Instant::now() + LAST_ANSWERS;
    let is_open = |read: &Answered| {
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.keys().any(|id| !read.contains_key(id))
    };
    while is_open(&read) {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((id, beginning, at)) = receiver.recv_timeout(left) else { break };
        read.insert(id, (at, is_forecast(&beginning)));
    }
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let mut times = Times::default();
    for (id, asked) in asked.iter() {
        match read.get(id) {
            Some((at, is_right)) => times.add(at.saturating_duration_since(*asked), *is_right),
            None => times.add(asked.elapsed(), watch.is_ended()),
        }
    }
    (answers, times)
}

/// When the ordinary calls were answered, and whether rightly.
type Answered = HashMap<u64, (Instant, bool)>;

/// Reads until all requests are answered, or nothing comes in time.
fn collect(clients: usize, receiver: &mpsc::Receiver<Read>) -> (Answers, Answered) {
    let (mut answers, mut read) = (Answers::default(), HashMap::new());
    let deadline = Instant::now() + PATIENCE;
    while answers.accepted + answers.refused < clients {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((id, beginning, at)) = receiver.recv_timeout(left) else { break };
        if id >= ORDINARY {
            read.insert(id, (at, is_forecast(&beginning)));
        } else if id < FIRST_OF_BATCHES {
            let refused = is_refusal(&beginning);
            answers.add(if refused { Ended::Refused } else { Ended::Accepted });
        }
    }
    answers.missing = clients - answers.accepted - answers.refused;
    (answers, read)
}

/// The id and the beginning of the next answer; that of a batch has the id 0.
fn read(stdout: &mut BufReader<ChildStdout>) -> anyhow::Result<(u64, Vec<u8>)> {
    let mut line = Vec::new();
    loop {
        line.clear();
        anyhow::ensure!(stdout.read_until(b'\n', &mut line)? > 0, "it ended");
        line.truncate(8192);
        let head = String::from_utf8_lossy(&line);
        // A batch that is refused as a whole has no id that the answer could name.
        if head.starts_with('[') || head.contains(r#""id":null"#) {
            return Ok((0, line));
        }
        let id = head
            .split_once(r#""id":"#)
            .map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
        if let Some(Ok(id)) = id.map(|id| id.parse()) {
            return Ok((id, line));
        }
    }
}
