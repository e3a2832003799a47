//! Clients on HTTP that try to fill the guard's memory.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use toolbond_harness::address::local;
use toolbond_harness::guard::{ENFORCE, in_front_of, listening};
use toolbond_harness::mcp::initialize;

use super::load::{Kind, notification};
use super::watch::Watch;
use super::{Answers, HOLD, PATIENCE, PAUSE, Row, is_forecast, is_refusal};
use crate::http::Connection;
use crate::load::FORECAST;
use crate::serve;

/// Starts a guard in front of a server on HTTP or of processes, lets so many clients at it and ends it.
pub(super) fn run(is_http: bool, kind: Kind, clients: usize, ceiling: u64) -> anyhow::Result<Row> {
    let notices = kind.notice().to_string();
    let upstream =
        is_http.then(|| serve::on_http("plain", &["--notices", &notices])).transpose()?;
    let (guard, port) = if let Some((_, port)) = upstream {
        in_front_of(port, &ENFORCE)
    } else {
        let server = serve::words(&["plain", "stdio"])?;
        let server: Vec<_> = server.iter().map(String::as_str).collect();
        listening(&[&ENFORCE[..], &["--"], &server].concat())
    };
    let watch = Watch::start(guard, ceiling);
    let row = attack(port, kind, clients, &watch);
    let peak = watch.finish()?;
    let (took, answers) = row?;
    Ok(Row { peak, took, answers })
}

fn attack(
    port: u16,
    kind: Kind,
    clients: usize,
    watch: &Watch,
) -> anyhow::Result<(Duration, Answers)> {
    let first = ordinary(port)?.ask(FORECAST.message(1).as_bytes())?;
    ensure!(is_forecast(&first), "the first call: {}", String::from_utf8_lossy(&first));
    let connections: Vec<_> =
        (0..clients).map(|_| open_session(port, kind)).collect::<anyhow::Result<_>>()?;
    let (request, notification) = (kind.request(0), notification());
    let (is_over, barrier) = (AtomicBool::new(false), Barrier::new(clients));
    thread::scope(|scope| {
        let ordinary = scope.spawn(|| call_until(port, &is_over, watch));
        let started = Instant::now();
        let (barrier, request, notification) = (&barrier, &request, &notification);
        let clients = connections.into_iter().map(|connection| {
            scope.spawn(move || {
                barrier.wait();
                one(kind, connection, request.as_bytes(), notification.as_bytes())
            })
        });
        let clients: Vec<_> = clients.collect();
        let answered: Option<Vec<_>> =
            clients.into_iter().map(|client| client.join().ok()).collect();
        let took = started.elapsed();
        is_over.store(true, Relaxed);
        let mut answers = ordinary.join().ok().context("the ordinary client panicked")?;
        let answered = answered.context("a client panicked")?;
        answered.iter().flatten().for_each(|answered| answers.add(answered));
        Ok((took, answers))
    })
}

/// A connection for ordinary calls.
fn ordinary(port: u16) -> anyhow::Result<Connection> {
    let mut connection =
        Connection::greet(local(port), FORECAST.path, FORECAST.era, FORECAST.tool)?;
    connection.wait_for(PATIENCE)?;
    Ok(connection)
}

/// Calls until it is over, or the guard was ended.
fn call_until(port: u16, is_over: &AtomicBool, watch: &Watch) -> Answers {
    let (mut answers, mut connection) = (Answers::default(), ordinary(port));
    while !is_over.load(Relaxed) && !watch.is_over() {
        let start = Instant::now();
        let answer = connection.as_mut().ok().map(|it| it.ask(FORECAST.message(1).as_bytes()));
        let is_right = answer.is_some_and(|answer| answer.is_ok_and(|text| is_forecast(&text)));
        answers.add_ordinary(start.elapsed(), is_right || watch.is_over());
        if !is_right {
            connection = ordinary(port);
        }
        thread::sleep(PAUSE);
    }
    answers
}

/// A client with a session of its own.
fn open_session(port: u16, kind: Kind) -> anyhow::Result<Connection> {
    let mut connection = Connection::open(local(port), "/mcp", kind.revision())?;
    connection.wait_for(PATIENCE)?;
    connection.shake_hands(&initialize(kind.revision(), &json!({})))?;
    Ok(connection)
}

/// What one client does: whether each of its messages was accepted.
fn one(
    kind: Kind,
    mut connection: Connection,
    request: &[u8],
    notification: &[u8],
) -> Vec<anyhow::Result<bool>> {
    if !kind.is_stuck() {
        return vec![ask(&mut connection, request)];
    }
    if kind != Kind::Deaf {
        // A second connection of the same session waits for what the server says on its own.
        let opened = connection.again().and_then(|mut other| {
            other.request("GET")?;
            Ok(other)
        });
        let posted = connection.post(request);
        thread::sleep(HOLD);
        drop(opened);
        return vec![posted.map(|()| true)];
    }
    let (started, mut all) = (Instant::now(), vec![ask(&mut connection, request)]);
    while all.last().is_some_and(Result::is_ok)
        && let Some(left) = HOLD.checked_sub(started.elapsed())
        && connection.wait_for(left.max(Duration::from_millis(1))).is_ok()
    {
        all.push(ask(&mut connection, notification));
    }
    all
}

/// Whether a request is accepted; its answer is read to its end.
fn ask(connection: &mut Connection, request: &[u8]) -> anyhow::Result<bool> {
    connection.post(request)?;
    let answer = connection.answer()?;
    let beginning = connection.beginning(&answer)?;
    Ok(answer.is_success() && !is_refusal(&beginning))
}
