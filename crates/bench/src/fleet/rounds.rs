//! Calls through everything, in turns, in front of two servers.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;

use super::series::{Round, Series};
use super::subject::{Processor, Subject, Through};
use super::{Options, report};
use crate::guard::cases::{Missing, Upstream};
use crate::guard::load::HttpLoad;
use crate::guard::wrk::Wrk;

/// Clients at a time.
pub(super) const CLIENTS: [usize; 2] = [1, 32];

/// How long calls are made before a round is measured.
const WARM_UP: Duration = Duration::from_millis(50);

/// The server behind the proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Made with an SDK, as servers are: much of a call is its own.
    Sdk,
    /// Answers from prepared text, so that the proxy is most of a call.
    Plain,
}

impl Behind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sdk => "a server made with rmcp",
            Self::Plain => "a server with prepared answers",
        }
    }

    pub(super) fn start(self, bench: &Path) -> Upstream {
        match self {
            Self::Sdk => Upstream::start(bench, &[]),
            Self::Plain => Upstream::plain(bench, &[]),
        }
    }
}

/// How many calls there were, and what is wrong with them.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) calls: u64,
    /// Those of `calls` that were to be checked.
    pub(super) to_check: u64,
    /// Calls that were to be checked, and were not found valid.
    pub(super) unchecked: u64,
}

/// Measures everything and prints a table for each server.
pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    for behind in [Behind::Sdk, Behind::Plain] {
        let (all, missing, tally) = measure(behind, options)?;
        report::calls(behind, &all, &missing, &tally);
        ensure!(tally.unchecked == 0, "{} calls were not checked", tally.unchecked);
    }
    Ok(())
}

fn measure(behind: Behind, options: &Options) -> anyhow::Result<(Vec<Series>, Missing, Tally)> {
    let upstream = behind.start(&std::env::current_exe()?);
    let wrk = checking(upstream.port)?;
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for through in Through::ALL {
        match Subject::start(through, upstream.port, options.envoy_workers) {
            Ok(subject) => subjects.push((subject, 0)),
            Err(error) => missing.push((through.name().to_owned(), format!("{error:#}"))),
        }
    }
    let mut all: Vec<Series> = Vec::new();
    for round in 0..options.rounds {
        for clients in CLIENTS {
            // Each round begins with another one, so that none always follows the same.
            subjects.rotate_left(1);
            for (subject, calls) in &mut subjects {
                let measured = one_round(subject, &wrk, clients)?;
                *calls += measured.calls as u64;
                let is_same =
                    |one: &Series| one.through == subject.through && one.clients == clients;
                match all.iter_mut().find(|one| is_same(one)) {
                    Some(series) => series.rounds.push(measured),
                    None => all.push(Series {
                        through: subject.through,
                        clients,
                        rounds: vec![measured],
                    }),
                }
            }
        }
        eprintln!("{}: round {} of {} done", behind.name(), round + 1, options.rounds);
    }
    let mut tally = Tally::default();
    for (subject, calls) in &subjects {
        tally.calls += calls;
        if let Some(validated) = subject.validated()? {
            tally.to_check += calls;
            tally.unchecked += calls.saturating_sub(validated);
        }
    }
    Ok((all, missing, tally))
}

/// `wrk`, which holds every answer to that of the server on `port` itself.
pub(super) fn checking(port: u16) -> anyhow::Result<Wrk> {
    let answer = HttpLoad::forecast(port).ask_once()?;
    Wrk::checking(&String::from_utf8(answer)?)
}

/// Measures one subject. Fails if an answer is wrong.
pub(super) fn one_round(subject: &Subject, wrk: &Wrk, clients: usize) -> anyhow::Result<Round> {
    let warm_up = subject.load.run(clients, WARM_UP)?;
    let before = subject.processor()?;
    let measured = wrk.run(&subject.load, clients)?;
    let after = subject.processor()?;
    #[expect(clippy::cast_precision_loss, reason = "a count of calls")]
    let count = measured.calls.max(1) as f64;
    let processor = Processor {
        proxy: (after.proxy - before.proxy) / count,
        checkers: (after.checkers - before.checkers) / count,
    };
    // Each client of the warm-up begins with a call that is not in its times.
    let calls = warm_up.calls + clients + measured.calls;
    Ok(Round { measured, calls, processor })
}
