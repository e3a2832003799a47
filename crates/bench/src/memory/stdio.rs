//! A client on standard input and output that tries to fill the guard's memory.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use toolbond_harness::guard::ENFORCE;
use toolbond_harness::mcp::initialize;
use toolbond_harness::process::toolbond;

use super::load::{FIRST_OF_BATCHES, Kind, notification};
use super::watch::Watch;
use super::{Answers, HOLD, PATIENCE, PAUSE, Row, is_forecast, is_refusal};
use crate::calls::{Era, VALID};
use crate::lines::{Lines, Output};
use crate::serve;

/// The ids of ordinary calls begin here.
const ORDINARY: usize = 100_000_000;

/// How long ordinary calls may stay open after the others.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How much of an answer is kept.
const BEGINNING: usize = 8192;

/// Starts a guard, keeps so many requests open and ends it.
pub(super) fn run(kind: Kind, clients: usize, ceiling: u64) -> anyhow::Result<Row> {
    let mut command = toolbond(&["guard"]);
    command.args(ENFORCE).arg("--").args(serve::words(&["plain", "stdio"])?);
    let mut lines = Lines::start(command)?;
    lines.shake_hands(Some(initialize(kind.revision(), &json!({}))))?;
    lines.ask(&ordinary(1))?;
    let Lines { process, input, output } = lines;
    let watch = Watch::start(process, ceiling);
    let (input, started) = (Input(Arc::new(Mutex::new(input))), Instant::now());
    let answers = if kind.is_stuck() {
        stuck(kind, &input, output)
    } else {
        answered(kind, clients, &input, output, &watch)
    };
    // What still writes or reads ends with the guard.
    Ok(Row { took: started.elapsed(), peak: watch.finish()?, answers })
}

/// What several write to, one message after the other.
#[derive(Clone)]
struct Input(Arc<Mutex<ChildStdin>>);

impl Input {
    /// Sends a message, and says since when it could be sent.
    fn send(&self, message: &str) -> anyhow::Result<Instant> {
        let mut stdin = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        stdin.write_all(message.as_bytes())?;
        stdin.write_all(b"\n")?;
        Ok(started)
    }
}

fn ordinary(id: usize) -> String {
    Era::Legacy.call(id, "forecast", VALID)
}

/// Nobody reads at one of the two ends.
fn stuck(kind: Kind, input: &Input, mut output: Output) -> Answers {
    let mut answers = Answers::default();
    answers.add(&input.send(&kind.request(0)).map(|_| true));
    let (sender, receiver) = mpsc::channel();
    if kind == Kind::Deaf && output.answer().is_ok() {
        let (input, notification) = (input.clone(), notification());
        thread::spawn(
            move || {
                while input.send(&notification).is_ok() && sender.send(()).is_ok() {}
            },
        );
    }
    thread::sleep(HOLD);
    answers.accepted += receiver.try_iter().count();
    answers
}

/// So many requests at a time, each of which is answered, and ordinary calls between them.
fn answered(
    kind: Kind,
    clients: usize,
    input: &Input,
    mut output: Output,
    watch: &Watch,
) -> Answers {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        while let Ok((id, mut line)) = output.answer() {
            line.truncate(BEGINNING);
            if sender.send((id, line, Instant::now())).is_err() {
                break;
            }
        }
    });
    let asked: Arc<Mutex<HashMap<usize, Instant>>> = Arc::default();
    let asked_now = || asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_over = Arc::new(AtomicBool::new(false));
    // Who waits for a turn to write ends with the guard.
    thread::spawn({
        let (input, is_over, asked) = (input.clone(), Arc::clone(&is_over), Arc::clone(&asked));
        move || {
            let note = |id, at| asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id, at);
            for id in (ORDINARY..).take_while(|_| !is_over.load(Relaxed)) {
                // From when the call could be sent at all: lines go one after the other.
                note(id, Instant::now());
                let Ok(started) = input.send(&ordinary(id)) else { break };
                note(id, started);
                thread::sleep(PAUSE);
            }
        }
    });
    thread::spawn({
        let input = input.clone();
        move || (0..clients).try_for_each(|client| input.send(&kind.request(client)).map(drop))
    });
    let (mut answers, mut read) = (Answers::default(), HashMap::new());
    let mut collect = |patience: Duration, is_done: &dyn Fn(usize, &HashMap<_, _>) -> bool| {
        let deadline = Instant::now() + patience;
        while !is_done(answers.accepted + answers.refused, &read) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok((id, line, at)) = receiver.recv_timeout(left) else { break };
            if id >= ORDINARY {
                read.insert(id, (at, is_forecast(&line)));
            } else if id < FIRST_OF_BATCHES {
                // Answers to single calls of a batch, whose answers come together, do not count.
                answers.add(&Ok(!is_refusal(&line)));
            }
        }
    };
    collect(PATIENCE, &|answered, _| answered >= clients);
    is_over.store(true, Relaxed);
    collect(LAST_ANSWERS, &|_, read| asked_now().keys().all(|id| read.contains_key(id)));
    answers.missing = clients.saturating_sub(answers.accepted + answers.refused);
    for (id, asked) in asked_now() {
        match read.get(&id) {
            Some((at, is_right)) => {
                answers.add_ordinary(at.saturating_duration_since(asked), *is_right);
            }
            None => answers.add_ordinary(asked.elapsed(), watch.is_over()),
        }
    }
    answers
}
