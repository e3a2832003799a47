//! The verbs. Each has a file, an entry in [`Verb`] and a line in [`Toolbond::run`].

mod bowtie;
mod bundle;
mod check;
mod completions;
mod convert;
mod demo;
mod doctor;
mod explain;
mod ext_proc;
mod guard;
mod lift;
mod lint;
mod man;
mod project;
mod targets;
mod unwrap;
mod view;
mod wrap;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};

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
    Guard(Box<guard::Guard>),
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
    Completions(completions::Completions),
    Man(man::Man),
}

/// What to write instead of words that other tools have as commands, or that are a server's command.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &["install", "setup", "add", "init", "integrate"],
        "to put the guard in front of the servers of a client: `toolbond wrap`",
    ),
    (
        &["uninstall", "remove"],
        "to take the guard out of the servers of a client: `toolbond unwrap`",
    ),
    (&["run", "start", "serve", "proxy", "stdio"], "to guard a server: `toolbond guard COMMAND`"),
    (
        &["npx", "uvx", "node", "python", "python3", "uv", "docker", "bunx", "deno"],
        "to guard a server: `toolbond guard COMMAND`; to check its tools: `toolbond lint -- COMMAND`",
    ),
    (&["status", "inspect", "diagnose"], "to look at the servers of a client: `toolbond doctor`"),
];

impl Toolbond {
    /// Parses the command line. Ends the process if it is wrong, or asks for help.
    pub(crate) fn from_command_line() -> Self {
        Self::try_parse().unwrap_or_else(|mut error| {
            if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
                && let Some((_, tip)) = ELSEWHERE.iter().find(|(words, _)| words.contains(&&**word))
            {
                let tip = ContextValue::StyledStrs(vec![(*tip).into()]);
                error.remove(ContextKind::SuggestedSubcommand);
                error.insert(ContextKind::Suggested, tip);
            }
            error.exit()
        })
    }

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
            Verb::Completions(completions) => completions.run(Self::command()),
            Verb::Man(man) => man.run(Self::command()),
        }
    }
}
