//! Clients on HTTP that try to fill the guard's memory.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::load::{Kind, Way, notification};
use super::ordinary::{self, call_until, is_forecast};
use super::peak::Watch;
use super::{Answers, Ended, HOLD, PATIENCE, Row};
use crate::guard::cases::{ON, Upstream};
use crate::guard::http::Connection;
use crate::guard::load::Speaks;
use crate::guard::peers::{Process, free_port};
use crate::guard::{guard, toolbond};

/// Starts a guard, lets so many clients at it and ends it.
pub(super) fn run(way: Way, kind: Kind, clients: usize, ceiling: u64) -> anyhow::Result<Row> {
    let bench = std::env::current_exe()?;
    let upstream = (way == Way::Http)
        .then(|| Upstream::plain(&bench, &["--notices", &kind.notice().to_string()]));
    let process = match &upstream {
        Some(upstream) => guard(upstream.port, ON)?,
        None => {
            let port = free_port()?;
            let mut command = toolbond()?;
            command.args(["--listen", &format!("127.0.0.1:{port}")]).args(ON).arg("--").arg(&bench);
            command.args(["plain-server", "--stdio"]);
            Process::start(command, port)?
        }
    };
    let port = process.port;
    let watch = Watch::start(process.id(), process, ceiling);
    let row = attack(port, kind, clients, &watch);
    let peak = watch.finish()?;
    let (took, answers, ordinary) = row?;
    Ok(Row { peak, took, answers, ordinary })
}

type Attacked = (Duration, Answers, ordinary::Times);

fn attack(port: u16, kind: Kind, clients: usize, watch: &Watch) -> anyhow::Result<Attacked> {
    let first = ordinary::connect(port)?.ask(Speaks::Natural.call(1, "forecast").as_bytes())?;
    ensure!(is_forecast(&first), "the first call: {}", String::from_utf8_lossy(&first));
    let connections: Vec<_> =
        (0..clients).map(|_| open_session(port, kind)).collect::<anyhow::Result<_>>()?;
    let [start, rest] = kind.request(0);
    let request = if kind.is_batch() { rest } else { format!("{start}7{rest}") };
    let notification = if kind == Kind::Deaf { notification() } else { String::new() };
    let (is_over, barrier) = (AtomicBool::new(false), Barrier::new(clients));
    thread::scope(|scope| {
        let ordinary = scope.spawn(|| call_until(port, &is_over, watch));
        let started = Instant::now();
        let threads: Vec<_> = connections
            .into_iter()
            .map(|connection| {
                let (barrier, request, notification) = (&barrier, &request, &notification);
                scope.spawn(move || {
                    barrier.wait();
                    one(port, kind, connection, request.as_bytes(), notification.as_bytes())
                })
            })
            .collect();
        let mut answers = Answers::default();
        for thread in threads {
            let ended = thread.join().ok().context("a client panicked")?;
            for ended in ended {
                answers.add(ended);
            }
        }
        let took = started.elapsed();
        is_over.store(true, Relaxed);
        let ordinary = ordinary.join().ok().context("the ordinary client panicked")?;
        Ok((took, answers, ordinary))
    })
}

/// A client with a session of its own.
fn open_session(port: u16, kind: Kind) -> anyhow::Result<Connection> {
    let revision = kind.revision();
    let mut connection = Connection::open(port, "/mcp", revision)?;
    connection.wait_for(PATIENCE)?;
    connection.ask(hello(revision).as_bytes()).context("initialize")?;
    connection.ask(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    Ok(connection)
}

pub(super) fn hello(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"bench","version":"1"}}}}}}"#
    )
}

/// What one client does, and how its messages were answered.
fn one(
    port: u16,
    kind: Kind,
    mut connection: Connection,
    request: &[u8],
    notification: &[u8],
) -> Vec<Ended> {
    match kind {
        Kind::Arguments | Kind::Results | Kind::Batches | Kind::WrongBatches => {
            vec![ask(&mut connection, request)]
        }
        Kind::Unread | Kind::UnreadLong => {
            // A second connection of the same session waits for what the server says on its own.
            let opened = connection.again(port).and_then(|mut other| {
                other.request("GET")?;
                Ok(other)
            });
            let posted = connection.post(request);
            thread::sleep(HOLD);
            drop(opened);
            vec![if posted.is_ok() { Ended::Accepted } else { Ended::Missing }]
        }
        Kind::Deaf => {
            let mut all = vec![ask(&mut connection, request)];
            let started = Instant::now();
            while started.elapsed() < HOLD {
                let Some(left) = HOLD.checked_sub(started.elapsed()) else { break };
                if connection.wait_for(left.max(Duration::from_millis(1))).is_err() {
                    break;
                }
                let ended = ask(&mut connection, notification);
                all.push(ended);
                if ended == Ended::Missing {
                    break;
                }
            }
            all
        }
    }
}

/// How a request is answered, read to its end.
fn ask(connection: &mut Connection, request: &[u8]) -> Ended {
    let answered = connection.post(request).and_then(|()| {
        let answer = connection.answer()?;
        let beginning = connection.beginning(&answer)?;
        Ok(answer.is_success() && !is_refusal(&beginning))
    });
    match answered {
        Ok(true) => Ended::Accepted,
        Ok(false) => Ended::Refused,
        Err(_) => Ended::Missing,
    }
}

/// Whether an answer begins like an error of a tool or of the protocol.
pub(super) fn is_refusal(beginning: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(beginning, text).is_some();
    has(b"\"isError\":true") || has(b"\"error\":{")
}
