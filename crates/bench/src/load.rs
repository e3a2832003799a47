//! Clients that ask as fast as they are answered, on connections that are kept, and read every answer.

use std::any::Any;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use memchr::memmem::find;
use serde_json::Value;
use toolbond_harness::wait::HANG;

use crate::calls::{Era, VALID};
use crate::http::Connection;
use crate::lines::Lines;
use crate::stats::{Times, float};

/// What is called, and where the answer has its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) era: Era,
    pub(crate) path: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: &'static str,
    /// Where the twenty items, or the number, are in the structured content.
    pub(crate) data: &'static str,
}

/// A valid call of `forecast`, which returns an array.
pub(crate) const FORECAST: Call =
    Call { era: Era::Modern, path: "/mcp", tool: "forecast", arguments: VALID, data: "" };

/// The same in an object, which every revision carries.
pub(crate) const REPORT: Call = Call { tool: "report", data: "/hours", ..FORECAST };

impl Call {
    pub(crate) fn message(&self, id: usize) -> String {
        self.era.call(id, self.tool, self.arguments)
    }

    /// Takes `answer` for the right one if it has the data.
    pub(crate) fn check(&self, answer: Vec<u8>) -> anyhow::Result<Right> {
        let value: Value = serde_json::from_slice(&answer).context("no JSON")?;
        let is_right = match value.pointer(&format!("/result/structuredContent{}", self.data)) {
            Some(Value::Array(items)) => items.len() == 20,
            data => data.is_some_and(Value::is_number),
        };
        ensure!(is_right, "expected data, found {}", shown(&answer));
        Ok(Right(answer))
    }
}

/// The right answer, which every other has to equal but for its id.
#[derive(Clone, Debug)]
pub(crate) struct Right(Vec<u8>);

impl Right {
    pub(crate) fn check(&self, answer: &[u8]) -> anyhow::Result<()> {
        let is_right = around_id(answer) == around_id(&self.0);
        ensure!(is_right, "expected {}, found {}", shown(&self.0), shown(answer));
        Ok(())
    }
}

fn shown(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).chars().take(300).collect()
}

/// What stands before the id of an answer, and after it.
fn around_id(answer: &[u8]) -> Option<[&[u8]; 2]> {
    let at = find(answer, b"\"id\":")? + 5;
    let digits = answer[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some([&answer[..at], answer[at + digits..].trim_ascii_end()])
}

/// What some clients measured, times in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) per_second: f64,
    pub(crate) calls: usize,
}

impl Measured {
    pub(crate) fn new(times: Vec<Duration>, taken: Duration) -> anyhow::Result<Self> {
        let (calls, times) = (times.len(), Times(times));
        let Some((p50, p99)) = times.micros(50).zip(times.micros(99)) else {
            bail!("no call was answered")
        };
        Ok(Self { p50, p99, per_second: float(calls) / taken.as_secs_f64(), calls })
    }
}

/// What can be asked by some clients at a time for a while.
pub(crate) trait Load {
    /// Connects so many clients, each of which has seen a right answer then, in place of those before.
    fn connect(&mut self, clients: usize) -> anyhow::Result<()>;

    /// Lets the clients ask for so long. Fails if an answer is wrong.
    fn run(&mut self, time: Duration) -> anyhow::Result<Measured>;

    /// What one client gets for `message`.
    fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>>;

    /// Lets so many clients ask for so long, and leave.
    fn run_once(&mut self, clients: usize, time: Duration) -> anyhow::Result<Measured> {
        self.connect(clients)?;
        let measured = self.run(time)?;
        self.connect(0)?;
        Ok(measured)
    }
}

/// Clients of a server on HTTP, each with a connection of its own.
pub(crate) struct HttpLoad {
    address: SocketAddr,
    pub(crate) call: Call,
    clients: Vec<Client>,
    _through: Box<dyn Any>,
}

/// A client that has seen a right answer.
pub(crate) struct Client {
    connection: Connection,
    call: Call,
    pub(crate) right: Right,
    next: usize,
}

impl Client {
    /// Calls once: the answer, and how long it took.
    pub(crate) fn ask(&mut self) -> anyhow::Result<(Vec<u8>, Duration)> {
        let (message, asked) = (self.call.message(self.next), Instant::now());
        self.next += 1;
        Ok((self.connection.ask(message.as_bytes())?, asked.elapsed()))
    }

    /// Asks as fast as it is answered, until `time` is over: how long each answer took.
    fn ask_for(&mut self, start: Instant, time: Duration) -> anyhow::Result<Vec<Duration>> {
        let mut times = Vec::new();
        loop {
            let (answer, taken) = self.ask()?;
            times.push(taken);
            self.right.check(&answer)?;
            if start.elapsed() >= time {
                return Ok(times);
            }
        }
    }
}

impl HttpLoad {
    /// Calls at `address` that go `through` something, which ends with them.
    pub(crate) fn new(address: SocketAddr, call: Call, through: impl Any) -> Self {
        Self { address, call, clients: Vec::new(), _through: Box::new(through) }
    }

    /// A client that has seen a right answer.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let (call, Call { era, path, tool, .. }) = (self.call, self.call);
        let mut connection = Connection::greet(self.address, path, era, tool)?;
        let answer = connection.ask(call.message(1).as_bytes())?;
        Ok(Client { connection, call, right: call.check(answer)?, next: 2 })
    }
}

impl Load for HttpLoad {
    fn connect(&mut self, clients: usize) -> anyhow::Result<()> {
        for client in self.clients.drain(..) {
            // Not every peer lets a client end its session.
            let _ = client.connection.end();
        }
        self.clients = (0..clients).map(|_| self.client()).collect::<anyhow::Result<_>>()?;
        Ok(())
    }

    fn run(&mut self, time: Duration) -> anyhow::Result<Measured> {
        let start = Instant::now();
        let times = thread::scope(|scope| {
            let clients = self.clients.iter_mut();
            let asking: Vec<_> =
                clients.map(|client| scope.spawn(move || client.ask_for(start, time))).collect();
            let times = asking.into_iter().map(|client| client.join().ok());
            times
                .map(|times| times.context("a client panicked")?)
                .collect::<anyhow::Result<Vec<_>>>()
        })?;
        Measured::new(times.concat(), start.elapsed())
    }

    fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>> {
        let mut connection = self.client()?.connection;
        let answer = connection.ask(message.as_bytes());
        let _ = connection.end();
        answer
    }
}

/// Clients of a server on standard input and output: so many calls at a time on one connection.
pub(crate) struct LinesLoad {
    pub(crate) lines: Lines,
    call: Call,
    right: Right,
    clients: usize,
    next: usize,
}

impl LinesLoad {
    /// A client that has seen a right answer of what `command` starts.
    pub(crate) fn start(command: Command, call: Call) -> anyhow::Result<Self> {
        let mut lines = Lines::start(command)?;
        let _limit = end_after(lines.process.id(), HANG);
        lines.shake_hands(call.era.hello())?;
        let right = call.check(lines.ask(&call.message(1))?)?;
        Ok(Self { lines, call, right, clients: 1, next: 2 })
    }
}

/// Ends a process after `time`, so that nobody waits for its answers any more, unless what this returns is dropped before.
fn end_after(process: u32, time: Duration) -> Sender<()> {
    let (done, is_done) = channel();
    thread::spawn(move || {
        if is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-KILL", &process.to_string()]).status();
        }
    });
    done
}

impl Load for LinesLoad {
    fn connect(&mut self, clients: usize) -> anyhow::Result<()> {
        self.clients = clients;
        Ok(())
    }

    fn run(&mut self, time: Duration) -> anyhow::Result<Measured> {
        let _limit = end_after(self.lines.process.id(), time + HANG);
        let start = Instant::now();
        let (mut asked, mut times) = (HashMap::new(), Vec::new());
        loop {
            while asked.len() < self.clients && start.elapsed() < time {
                asked.insert(self.next, Instant::now());
                self.lines.send(&self.call.message(self.next))?;
                self.next += 1;
            }
            if asked.is_empty() {
                return Measured::new(times, start.elapsed());
            }
            let (id, answer) = self.lines.output.answer()?;
            let asked = asked.remove(&id).with_context(|| format!("nobody asked {id}"))?;
            times.push(asked.elapsed());
            self.right.check(&answer)?;
        }
    }
    fn ask(&mut self, message: &str) -> anyhow::Result<Vec<u8>> {
        self.lines.ask(message)
    }
}
