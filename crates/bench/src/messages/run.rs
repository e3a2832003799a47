//! What came of the calls of one seed.

use super::calls::{Call, Group};
use super::{Outcome, Trial};

/// The calls of one seed, and what came of each with the messages of each validator.
pub(super) struct Run {
    pub(super) calls: Vec<Call>,
    /// By validator, then by call.
    pub(super) outcomes: Vec<Vec<Outcome>>,
}

/// How many of some calls are valid after one and two rounds.
#[derive(Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) covered: usize,
    pub(super) once: usize,
    pub(super) twice: usize,
}

impl Share {
    fn count<'o>(trials: impl Iterator<Item = &'o Trial>) -> Self {
        let mut share = Self::default();
        for trial in trials {
            share.covered += 1;
            share.once += usize::from(trial.fixed_after == Some(1));
            share.twice += usize::from(trial.fixed_after.is_some());
        }
        share
    }

    /// In percent, after one and two rounds.
    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    pub(super) fn percent(self) -> [f64; 2] {
        let covered = self.covered.max(1) as f64;
        [self.once as f64 * 100.0 / covered, self.twice as f64 * 100.0 / covered]
    }
}

impl Run {
    pub(super) fn new(calls: Vec<Call>) -> Self {
        Self { calls, outcomes: Vec::new() }
    }

    /// The calls that a validator covers, and what came of them.
    pub(super) fn trials(&self, validator: usize) -> impl Iterator<Item = (&Call, &Trial)> {
        let all = self.calls.iter().zip(&self.outcomes[validator]);
        all.filter_map(|(call, outcome)| match outcome {
            Outcome::Covered(trial) => Some((call, trial)),
            Outcome::NotCovered(_) => None,
        })
    }

    pub(super) fn share(&self, validator: usize) -> Share {
        Share::count(self.trials(validator).map(|(_, trial)| trial))
    }

    pub(super) fn share_of(&self, validator: usize, group: Group) -> Share {
        let of_group = self.trials(validator).filter(|(call, _)| call.group == group);
        Share::count(of_group.map(|(_, trial)| trial))
    }

    /// By how many percent points the first validator is ahead of the second, among the calls that both cover, after
    /// one and two rounds.
    pub(super) fn lead(&self, first: usize, second: usize) -> [f64; 2] {
        let both = self.outcomes[first].iter().zip(&self.outcomes[second]);
        let both: Vec<(&Trial, &Trial)> = both
            .filter_map(|pair| match pair {
                (Outcome::Covered(first), Outcome::Covered(second)) => Some((first, second)),
                _ => None,
            })
            .collect();
        let first = Share::count(both.iter().map(|(first, _)| *first)).percent();
        let second = Share::count(both.iter().map(|(_, second)| *second)).percent();
        [first[0] - second[0], first[1] - second[1]]
    }
}
