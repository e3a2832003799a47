//! Calls through everything, in turns, in front of two servers.

use std::time::Duration;

use anyhow::ensure;

use super::subject::{Processor, Subject, Through};
use super::{Options, report};
use crate::load::{Load as _, Measured};
use crate::serve::{self, BOTH_ERAS};
use crate::stats::{float, median};

/// Clients at a time.
pub(super) const CLIENTS: [usize; 2] = [1, 32];

/// The servers behind the proxies. Much of a call is the first one's own; with the second, the proxy is most of it.
const SERVERS: [(&str, &str); 2] =
    [("arrays", "a server made with rmcp"), ("plain", "a server with prepared answers")];

/// How long calls are made before a round is measured, and how long it is.
const TIMES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// One round; processor time is for each call.
pub(super) struct Round {
    pub(super) measured: Measured,
    pub(super) processor: Processor,
}

/// Every round of one subject with one number of clients.
pub(super) struct Series {
    pub(super) through: Through,
    pub(super) clients: usize,
    rounds: Vec<Round>,
}

impl Series {
    pub(super) fn median(&self, value: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(value))
    }

    pub(super) fn per_second(&self) -> f64 {
        self.median(|round| round.measured.per_second)
    }

    /// Processor time of ours for a call, in microseconds.
    pub(super) fn checkers(&self) -> f64 {
        self.median(|round| round.processor.checkers)
    }
}

/// Everything that was measured in front of one server.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) all: Vec<Series>,
    /// What could not be measured, and why.
    pub(super) missing: Vec<(String, String)>,
    pub(super) count: usize,
    /// Those of `count` that were to be checked.
    pub(super) to_check: usize,
    /// Those that were to be checked, and were not found valid.
    pub(super) unchecked: usize,
}

/// Measures everything and prints a table for each server.
pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    for (server, name) in SERVERS {
        let calls = measure(server, name, options)?;
        report::calls(name, &calls);
        ensure!(calls.unchecked == 0, "{} calls were not checked", calls.unchecked);
    }
    Ok(())
}

fn measure(server: &str, name: &str, options: &Options) -> anyhow::Result<Calls> {
    let (_upstream, port) = serve::on_http(server, &BOTH_ERAS)?;
    let (mut subjects, mut done) = (Vec::new(), Calls::default());
    for through in Through::ALL {
        match Subject::start(through, port, options.envoy_workers) {
            Ok(subject) => subjects.push((subject, 0)),
            Err(error) => done.missing.push((through.name(), format!("{error:#}"))),
        }
    }
    // Everybody's answer is held to that of the server itself.
    let right = subjects[0].0.load.client()?.right;
    for (subject, calls) in &mut subjects {
        right.check(&subject.load.client()?.ask()?.0)?;
        *calls += 2;
    }
    for round in 1..=options.rounds {
        for clients in CLIENTS {
            // Each round begins with another one, so that none always follows the same.
            subjects.rotate_left(1);
            for (subject, calls) in &mut subjects {
                let (round, answered) = one_round(subject, clients)?;
                *calls += answered;
                let through = subject.through;
                let mut all = done.all.iter_mut();
                match all.find(|one| one.through == through && one.clients == clients) {
                    Some(series) => series.rounds.push(round),
                    None => done.all.push(Series { through, clients, rounds: vec![round] }),
                }
            }
        }
        eprintln!("{name}: round {round} of {} done", options.rounds);
    }
    for (subject, calls) in &subjects {
        done.count += calls;
        if let Some(validated) = subject.validated()? {
            done.to_check += calls;
            done.unchecked += calls.saturating_sub(validated);
        }
    }
    Ok(done)
}

/// Measures one subject, and counts all calls that were answered. Fails if an answer is wrong.
pub(super) fn one_round(subject: &mut Subject, clients: usize) -> anyhow::Result<(Round, usize)> {
    subject.load.connect(clients)?;
    let warm_up = subject.load.run(TIMES[0])?;
    let before = subject.processor()?;
    let measured = subject.load.run(TIMES[1])?;
    let after = subject.processor()?;
    let calls = float(measured.calls);
    let processor = Processor {
        proxy: (after.proxy - before.proxy) / calls,
        checkers: (after.checkers - before.checkers) / calls,
    };
    // Each client begins with a call that is not in its times.
    Ok((Round { measured, processor }, clients + warm_up.calls + measured.calls))
}
