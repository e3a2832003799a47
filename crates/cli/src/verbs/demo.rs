//! `toolpact demo`: a guided tour.

use crate::exit::Outcome;

/// Take a guided tour, one screen long.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {}

impl Demo {
    #[expect(clippy::unused_self, reason = "every verb runs the same way")]
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        Ok(Outcome::Clean)
    }
}
