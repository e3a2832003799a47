//! A client that calls a tool now and then, and how long it waits.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::PATIENCE;
use super::peak::Watch;
use crate::guard::http::Connection;
use crate::guard::load::Speaks;

/// Between two calls.
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// How long calls took.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    times: Vec<Duration>,
    /// Calls without the right answer; how long they took counts, too.
    pub(super) failed: usize,
}

impl Times {
    pub(super) fn add(&mut self, time: Duration, is_right: bool) {
        self.times.push(time);
        self.failed += usize::from(!is_right);
    }

    pub(super) fn count(&self) -> usize {
        self.times.len()
    }

    pub(super) fn p50(&self) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }

    pub(super) fn max(&self) -> Option<Duration> {
        self.times.iter().max().copied()
    }
}

/// A connection for calls without a session.
pub(super) fn connect(port: u16) -> anyhow::Result<Connection> {
    let mut connection = Connection::open(port, "/mcp", "2026-07-28")?;
    connection.wait_for(PATIENCE)?;
    connection.header("mcp-method: tools/call\r\nmcp-name: forecast");
    Ok(connection)
}

/// Calls until it is over, or the guard was ended.
pub(super) fn call_until(port: u16, is_over: &AtomicBool, watch: &Watch) -> Times {
    let (mut times, mut connection) = (Times::default(), connect(port).ok());
    let call = Speaks::Natural.call(1, "forecast");
    while !is_over.load(Relaxed) {
        let start = Instant::now();
        let answer = match &mut connection {
            Some(connection) => connection.ask(call.as_bytes()),
            None => Err(anyhow::anyhow!("not connected")),
        };
        let is_right = answer.is_ok_and(|answer| is_forecast(&answer));
        let is_ended = watch.is_ended();
        times.add(start.elapsed(), is_right || is_ended);
        if is_ended {
            break;
        }
        if !is_right {
            connection = connect(port).ok();
        }
        thread::sleep(PAUSE);
    }
    times
}

/// Whether an answer is what the tool gives.
pub(super) fn is_forecast(answer: &[u8]) -> bool {
    memchr::memmem::find(answer, b"\"structuredContent\"").is_some()
        && memchr::memmem::find(answer, b"\"isError\":true").is_none()
}
