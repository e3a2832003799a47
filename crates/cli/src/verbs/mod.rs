//! The verbs: one file, one entry here and one line in [`Toolpact::run`] each.

mod bowtie;
mod check;
mod demo;

use clap::{Parser, Subcommand};

use crate::exit::Outcome;

/// Checks JSON values against JSON Schema, with a hard bound on cost.
///
/// Results go to standard output, everything else to standard error.
/// Exit code 0: nothing to report; 1: findings; 2: wrong usage or unreadable input.
#[derive(Debug, Parser)]
#[command(name = "toolpact", version, arg_required_else_help = true)]
pub(crate) struct Toolpact {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    Bowtie(bowtie::Bowtie),
    Demo(demo::Demo),
}

impl Toolpact {
    /// Does what the command line asks for.
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        match self.verb {
            Verb::Check(check) => check.run(),
            Verb::Bowtie(bowtie) => bowtie.run(),
            Verb::Demo(demo) => demo.run(),
        }
    }
}
