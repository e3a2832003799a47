//! Rounds of calls, the ways to be compared in turns, so that what disturbs disturbs all of them.

use std::time::{Duration, Instant};

use anyhow::ensure;
use rustix::time::{ClockId, clock_gettime};

/// A connection that calls can be made on.
pub(crate) trait Connection: Send + 'static {
    /// One call, answered with structured content.
    fn call(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// Whether `answer` has structured content and is no error.
pub(crate) fn is_answer(answer: &[u8]) -> anyhow::Result<()> {
    let has = |text: &[u8]| answer.windows(text.len()).any(|window| window == text);
    // The text before it is long; what is looked for stands at the end.
    let end = &answer[answer.len().saturating_sub(200)..];
    let in_end = |text: &[u8]| end.windows(text.len()).any(|window| window == text);
    ensure!(
        in_end(b"\"isError\":false") && has(b"\"structuredContent\":"),
        "no structured content"
    );
    Ok(())
}

/// One way, and what was measured of it.
pub(crate) struct Way<C> {
    pub(crate) name: &'static str,
    connections: Vec<C>,
    /// Calls a second, one figure for each round.
    rates: Vec<f64>,
    /// Processor time for a call, client included, one figure for each round, in seconds.
    costs: Vec<f64>,
    latencies: Vec<Duration>,
}

impl<C: Connection> Way<C> {
    pub(crate) const fn new(name: &'static str, connections: Vec<C>) -> Self {
        Self { name, connections, rates: Vec::new(), costs: Vec::new(), latencies: Vec::new() }
    }

    /// `calls` calls on each connection, all connections at once.
    async fn round(&mut self, calls: usize, record: bool) -> anyhow::Result<Duration> {
        let (started, spent) = (Instant::now(), processor_time());
        let clients: Vec<_> = self
            .connections
            .drain(..)
            .map(|mut connection| {
                tokio::spawn(async move {
                    let mut latencies = Vec::with_capacity(calls);
                    for _ in 0..calls {
                        let started = Instant::now();
                        connection.call().await?;
                        latencies.push(started.elapsed());
                    }
                    anyhow::Ok((connection, latencies))
                })
            })
            .collect();
        let count = clients.len() * calls;
        for client in clients {
            let (connection, latencies) = client.await??;
            self.connections.push(connection);
            if record {
                self.latencies.extend(latencies);
            }
        }
        let taken = started.elapsed();
        if record {
            #[expect(clippy::cast_precision_loss, reason = "a few thousand calls")]
            let count = count as f64;
            self.rates.push(count / taken.as_secs_f64());
            self.costs.push(processor_time().saturating_sub(spent).as_secs_f64() / count);
        }
        Ok(taken)
    }

    /// The median of the rounds.
    pub(crate) fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// The latency that `part` of the calls were within.
    pub(crate) fn latency(&mut self, part: f64) -> Duration {
        self.latencies.sort_unstable();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index"
        )]
        let at = (self.latencies.len() as f64 * part) as usize;
        self.latencies.get(at).copied().unwrap_or_default()
    }

    /// Processor time for a call, the median of the rounds.
    pub(crate) fn cost(&self) -> Duration {
        Duration::from_secs_f64(median(self.costs.clone()))
    }

    /// Calls a second as a share of those of `other`: by the clock, and for the same processor time. Each is the
    /// median over rounds made one after another.
    pub(crate) fn share_of(&self, other: &Self) -> [f64; 2] {
        let share = |ours: &[f64], theirs: &[f64]| {
            median(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect())
        };
        [share(&self.rates, &other.rates), share(&other.costs, &self.costs)]
    }
}

/// What all threads of this process have spent. Other processes lengthen a round, but not this.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Measures `ways` in turns, `rounds` times each.
pub(crate) async fn measure<C: Connection>(
    ways: &mut [Way<C>],
    rounds: usize,
) -> anyhow::Result<()> {
    let mut calls = 20;
    for way in ways.iter_mut() {
        way.round(calls, false).await?;
        let taken = way.round(calls, false).await?.as_secs_f64();
        // A round takes about 40 milliseconds.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let fitting = (0.04 / taken * 20.0).clamp(5.0, 10_000.0) as usize;
        calls = calls.max(fitting);
    }
    for round in 0..rounds {
        // Nobody always goes first.
        let first = round % ways.len();
        for at in 0..ways.len() {
            let at = (first + at) % ways.len();
            ways[at].round(calls, true).await?;
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
