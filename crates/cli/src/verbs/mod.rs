//! The verbs. Each has a file, an entry in [`Verb`] and a line in [`Toolbond::run`].

mod bowtie;
mod bundle;
mod check;
mod convert;
mod demo;
mod doctor;
mod explain;
mod ext_proc;
mod guard;
mod lift;
mod lint;
mod project;
mod targets;
mod unwrap;
mod view;
mod wrap;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// Check MCP tools and their calls against their JSON Schemas, with a hard limit on the work.
///
/// Results go to standard output, messages to standard error.
/// Exit code 0: nothing to report; 1: findings; 2: wrong usage or unreadable input.
#[derive(Debug, Parser)]
#[command(name = "toolbond", version, arg_required_else_help = true)]
pub(crate) struct Toolbond {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    Lint(lint::Lint),
    View(view::View),
    Targets(targets::Targets),
    Explain(explain::Explain),
    Guard(guard::Guard),
    Wrap(wrap::Wrap),
    Unwrap(unwrap::Unwrap),
    Doctor(doctor::Doctor),
    ExtProc(ext_proc::ExtProc),
    Project(project::Project),
    Lift(lift::Lift),
    Convert(convert::Convert),
    Bundle(bundle::Bundle),
    Bowtie(bowtie::Bowtie),
    Demo(demo::Demo),
}

impl Toolbond {
    /// Runs the verb.
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self.verb {
            Verb::Check(check) => check.run(),
            Verb::Lint(lint) => lint.run(),
            Verb::View(view) => view.run(),
            Verb::Targets(targets) => targets.run(),
            Verb::Explain(explain) => explain.run(),
            Verb::Guard(guard) => guard.run(),
            Verb::Wrap(wrap) => wrap.run(),
            Verb::Unwrap(unwrap) => unwrap.run(),
            Verb::Doctor(doctor) => doctor.run(),
            Verb::ExtProc(ext_proc) => ext_proc.run(),
            Verb::Project(project) => project.run(),
            Verb::Lift(lift) => lift.run(),
            Verb::Convert(convert) => convert.run(),
            Verb::Bundle(bundle) => bundle.run(),
            Verb::Bowtie(bowtie) => bowtie.run(),
            Verb::Demo(demo) => demo.run(),
        }
    }
}
