//! Clients on HTTP.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::calls::Call;
use super::tally::{Kind, Tally};
use crate::calls::Era;
use crate::http::Connection;
use crate::plain::Costly;

/// A guard as clients of one revision use it: those of 2025-11-25 have a session each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) way: &'static str,
    pub(super) address: SocketAddr,
    pub(super) path: &'static str,
    pub(super) era: Era,
}

/// How many clients of each kind there are, and how many milliseconds each rests after what it did.
pub(super) const CLIENTS: [(Kind, usize, u64); 8] = [
    (Kind::Good, 2, 20),
    (Kind::WrongArguments, 1, 50),
    (Kind::WrongResults, 1, 50),
    (Kind::Hostile, 1, 1500),
    (Kind::Slow, 2, 100),
    (Kind::Leaving, 2, 200),
    (Kind::Unread, 1, 1000),
    (Kind::Sessions, 1, 1000),
];

/// How long a client that does not read stays.
const UNREAD: Duration = Duration::from_secs(3);

/// What all clients share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub(super) tally: &'a Tally,
    pub(super) costly: &'a [Costly],
    pub(super) is_over: &'a AtomicBool,
}

impl Target {
    /// One client of this kind, until it is over.
    pub(super) fn client(self, kind: Kind, pause: u64, shared: Shared<'_>) {
        let mut kept = None;
        for turn in (0..).take_while(|_| !shared.is_over.load(Relaxed)) {
            let call = Call::of_kind(kind, turn, shared.costly);
            let started = Instant::now();
            let came = match kind {
                Kind::Leaving => self.leave(&mut kept, turn, call, shared.costly),
                Kind::Unread => self.ignore(),
                Kind::Sessions => self.session(turn, &call),
                _ => self.ask(&mut kept, kind, turn, &call),
            };
            shared.tally.add(self.way, kind, started.elapsed(), &came);
            if came.is_err() {
                kept = None;
            }
            thread::sleep(Duration::from_millis(pause));
        }
    }

    /// A connection, with a session where the revision has them.
    fn open(self, call: &Call) -> anyhow::Result<Connection> {
        Connection::greet(self.address, self.path, self.era, &call.tool)
    }

    /// One call that waits for its answer.
    fn ask(
        self,
        kept: &mut Option<Connection>,
        kind: Kind,
        turn: usize,
        call: &Call,
    ) -> anyhow::Result<()> {
        // A header names the tool, and hostile clients call many.
        let connection = match kept.take() {
            Some(connection) if kind != Kind::Hostile || self.era == Era::Legacy => connection,
            _ => self.open(call)?,
        };
        let connection = kept.insert(connection);
        let message = call.message(turn, self.era).into_bytes();
        if kind == Kind::Slow {
            connection.post_part(&[], message.len())?;
            for piece in message.chunks(message.len().div_ceil(8)) {
                thread::sleep(Duration::from_millis(100));
                connection.write(piece)?;
            }
            thread::sleep(Duration::from_millis(200));
        } else {
            connection.post(&message)?;
        }
        call.check(&connection.message()?, turn, self.era)
    }

    /// A call whose client leaves before it is answered.
    fn leave(
        self,
        kept: &mut Option<Connection>,
        turn: usize,
        good: Call,
        costly: &[Costly],
    ) -> anyhow::Result<()> {
        let call = match turn % 4 {
            0 => good,
            1 => Call::slow(500),
            2 => Call::notify(2000, 1000),
            _ => Call::of_kind(Kind::Hostile, turn, costly),
        };
        // Each session is used eight times.
        let session = match kept.take() {
            Some(session) if self.era == Era::Legacy => session,
            _ => self.open(&call)?,
        };
        let mut connection = session.again()?;
        let message = call.message(turn, self.era);
        let sent = if turn.is_multiple_of(4) { message.len() / 2 } else { message.len() };
        connection.post_part(&message.as_bytes()[..sent], message.len())?;
        match turn % 4 {
            0 => {}
            2 => drop(connection.answer()?),
            _ => thread::sleep(Duration::from_millis(20)),
        }
        if turn % 8 == 7 {
            return self.end(&session, turn % 16 == 7);
        }
        *kept = Some(session);
        Ok(())
    }

    /// A client that opens a stream, has the server say much, and reads nothing.
    fn ignore(self) -> anyhow::Result<()> {
        let call = Call::notify(2000, 10_000);
        let mut connection = self.open(&call)?;
        let mut opened = connection.again()?;
        if self.era == Era::Legacy {
            opened.request("GET")?;
        }
        connection.post(call.message(1, self.era).as_bytes())?;
        thread::sleep(UNREAD);
        drop(opened);
        self.end(&connection, true)
    }

    /// A session with some calls, which is ended or left.
    fn session(self, turn: usize, call: &Call) -> anyhow::Result<()> {
        let mut connection = self.open(call)?;
        for id in 1..=3 {
            let answer = connection.ask(call.message(id, self.era).as_bytes())?;
            call.check(&answer, id, self.era)?;
        }
        self.end(&connection, turn.is_multiple_of(2))
    }

    /// Ends a session, where there is one and its client says goodbye.
    fn end(self, connection: &Connection, says_goodbye: bool) -> anyhow::Result<()> {
        if self.era == Era::Legacy && says_goodbye {
            connection.again()?.end()?;
        }
        Ok(())
    }
}
