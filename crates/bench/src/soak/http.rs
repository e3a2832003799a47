//! Clients on HTTP.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::calls::{Call, HELLO, INITIALIZED};
use super::tally::{Kind, Tally};
use crate::guard::http::Connection;
use crate::plain::Costly;

/// A guard as clients of one revision use it.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) way: &'static str,
    pub(super) port: u16,
    pub(super) path: &'static str,
    /// The clients speak 2025-11-25, each in a session of its own.
    pub(super) is_legacy: bool,
}

/// How many clients of each kind there are, and how long each rests after what it did.
pub(super) const CLIENTS: [(Kind, usize, Duration); 8] = [
    (Kind::Good, 2, Duration::from_millis(20)),
    (Kind::WrongArguments, 1, Duration::from_millis(50)),
    (Kind::WrongResults, 1, Duration::from_millis(50)),
    (Kind::Hostile, 1, Duration::from_millis(1500)),
    (Kind::Slow, 2, Duration::from_millis(100)),
    (Kind::Leaving, 2, Duration::from_millis(200)),
    (Kind::Unread, 1, Duration::from_secs(1)),
    (Kind::Sessions, 1, Duration::from_secs(1)),
];

/// How long a client that does not read stays.
const UNREAD: Duration = Duration::from_secs(3);

/// How long a client waits for an answer: what is out of budget is validated when nothing else is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all clients share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) tally: &'a Tally,
    pub(super) costly: &'a [Costly],
    pub(super) is_over: &'a AtomicBool,
}

impl Target {
    /// One client of this kind, until it is over.
    pub(super) fn client(&self, kind: Kind, pause: Duration, shared: Shared<'_>) {
        let (mut connection, mut turn) = (None, 0);
        while !shared.is_over.load(Relaxed) {
            let call = Call::of_kind(kind, turn, shared.costly);
            let started = Instant::now();
            let came = match kind {
                Kind::Leaving => self.leave(&mut connection, turn, &call, shared.costly),
                Kind::Unread => self.ignore(),
                Kind::Sessions => self.session(turn, &call),
                _ => self.ask(&mut connection, kind, turn, &call),
            };
            let is_timed = kind == Kind::Good;
            let time = is_timed.then(|| started.elapsed());
            shared.tally.add(self.way, kind, time, &came);
            if came.is_err() {
                connection = None;
            }
            turn += 1;
            thread::sleep(pause);
        }
    }

    /// A connection, with a session where the revision has them.
    fn open(&self, tool: &str) -> anyhow::Result<Connection> {
        if self.is_legacy {
            let mut connection = Connection::open(self.port, self.path, "2025-11-25")?;
            connection.wait_for(PATIENCE)?;
            connection.ask(HELLO.as_bytes()).context("initialize")?;
            connection.ask(INITIALIZED.as_bytes()).context("initialized")?;
            return Ok(connection);
        }
        let mut connection = Connection::open(self.port, self.path, "2026-07-28")?;
        connection.wait_for(PATIENCE)?;
        connection.header(&format!("mcp-method: tools/call\r\nmcp-name: {tool}"));
        Ok(connection)
    }

    /// One call that waits for its answer.
    fn ask(
        &self,
        kept: &mut Option<Connection>,
        kind: Kind,
        turn: usize,
        call: &Call,
    ) -> anyhow::Result<()> {
        // A header names the tool, and hostile clients call many.
        if kind == Kind::Hostile && !self.is_legacy {
            *kept = None;
        }
        let connection = match kept {
            Some(connection) => connection,
            None => kept.insert(self.open(&call.tool)?),
        };
        let message = call.message(turn, self.is_legacy);
        let answer = if kind == Kind::Slow {
            connection.post_slowly(message.as_bytes(), 8, Duration::from_millis(100))?;
            thread::sleep(Duration::from_millis(200));
            connection.message()?
        } else {
            connection.ask(message.as_bytes())?
        };
        call.check(&answer, turn, self.is_legacy)
    }

    /// A call whose client leaves before it is answered.
    fn leave(
        &self,
        kept: &mut Option<Connection>,
        turn: usize,
        call: &Call,
        costly: &[Costly],
    ) -> anyhow::Result<()> {
        let call = match turn % 4 {
            0 => call.clone(),
            1 => Call::slow(500),
            2 => Call::notify(2000, 1000),
            _ => Call::of_kind(Kind::Hostile, turn, costly),
        };
        // Each session is used eight times.
        let session = match kept.take() {
            Some(session) if self.is_legacy => session,
            _ => self.open(&call.tool)?,
        };
        let mut connection = session.again(self.port)?;
        let message = call.message(turn, self.is_legacy);
        match turn % 4 {
            0 => {
                let half = &message.as_bytes()[..message.len() / 2];
                connection.post_part(half, message.len())?;
            }
            2 => {
                connection.post(message.as_bytes())?;
                connection.answer()?;
            }
            _ => {
                connection.post(message.as_bytes())?;
                thread::sleep(Duration::from_millis(20));
            }
        }
        if turn % 8 == 7 {
            return self.end(&session, turn % 16 == 7);
        }
        *kept = Some(session);
        Ok(())
    }

    /// A client that opens a stream, has the server say much, and reads nothing.
    fn ignore(&self) -> anyhow::Result<()> {
        let call = Call::notify(2000, 10_000);
        let mut connection = self.open(&call.tool)?;
        let opened = if self.is_legacy {
            let mut opened = connection.again(self.port)?;
            opened.request("GET")?;
            Some(opened)
        } else {
            None
        };
        connection.post(call.message(1, self.is_legacy).as_bytes())?;
        thread::sleep(UNREAD);
        drop(opened);
        self.end(&connection, true)
    }

    /// A session with some calls, which is ended or left.
    fn session(&self, turn: usize, call: &Call) -> anyhow::Result<()> {
        let mut connection = self.open(&call.tool)?;
        for id in 1..=3 {
            let answer = connection.ask(call.message(id, self.is_legacy).as_bytes())?;
            call.check(&answer, id, self.is_legacy)?;
        }
        self.end(&connection, turn.is_multiple_of(2))
    }

    /// Ends a session, where there is one and its client says goodbye.
    fn end(&self, connection: &Connection, says_goodbye: bool) -> anyhow::Result<()> {
        if self.is_legacy && says_goodbye {
            let mut goodbye = connection.again(self.port)?;
            goodbye.request("DELETE")?;
            goodbye.answer()?;
        }
        Ok(())
    }
}
