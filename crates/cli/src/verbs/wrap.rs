//! `toolbond wrap`: the guard in front of the servers of a client.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{anyhow, bail};
use toolbond_clients::{Client, Document, Folders, Lock, Record, Server, Start, repoint, wrap};

use crate::configs::{Choice, ConfigFile, folders, full_name, shown};
use crate::confirm::confirm;
use crate::diff::write_diff;
use crate::exit::Exit;
use crate::guards::{Guards, missing_program};
use crate::launcher::{Launcher, wrapper};
use crate::probe::check_open;
use crate::terminal::{self, printable};

const EXAMPLES: &str = "\
Examples:
  toolbond wrap claude-desktop filesystem
  toolbond wrap cursor                       all servers of Cursor that start a command, after asking
  toolbond wrap --dry-run                    which lines it would change, for all clients
  toolbond wrap --via npx claude-code        for a file that others use, too
  toolbond unwrap claude-desktop             undo it

Exit code 0: it is done, or nothing was to be done; 2: something could not be read or written.";

/// Put the guard in front of the servers of a client, in its configuration.
///
/// Finds the configurations of Claude Desktop, Claude Code, Cursor, VS Code, Codex and Gemini CLI, for the
/// user and in this folder. The command of each server becomes an argument of `toolbond guard`; its
/// environment and all else in the file stay as they are, comments and white space too. `toolbond unwrap`
/// undoes it. A server on HTTP is wrapped only if it is named, and if it answers without a sign-in; its
/// headers become environment variables of the guard.
///
/// The file is replaced as a whole, and a copy of what it was is kept in the data folder of the user.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Wrap {
    #[command(flatten)]
    choice: Choice,

    /// Wrap all servers without asking
    #[arg(long, short, alias = "all")]
    yes: bool,

    /// Show which lines would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// What `toolbond unwrap` does
    #[arg(long, hide = true)]
    undo: bool,

    /// How the client starts the guard [default: path, or the package runner that this copy was started
    /// by]
    #[arg(long, value_enum, value_name = "HOW")]
    via: Option<Launcher>,
}

/// A configuration, and the servers in it that are to be wrapped.
struct Plan {
    file: ConfigFile,
    guards: Guards,
    all: Vec<Server>,
    /// Those without a guard, and those whose guard is not where it was.
    chosen: Vec<Server>,
}

impl Wrap {
    pub(crate) fn run(mut self) -> anyhow::Result<Exit> {
        if self.undo {
            bail!("there is no --undo: write `toolbond unwrap`");
        }
        self.choice = self.choice.settle();
        let folders = folders()?;
        let data = folders.data();
        let _lock = if self.dry_run { None } else { Some(Lock::acquire(&data)?) };
        let (plans, mut exit) = self.plans(&folders)?;
        if exit == Exit::Clean {
            self.choice.check_names(plans.iter().flat_map(|plan| &plan.all))?;
        }
        let is_asked = !self.yes && !self.dry_run && !self.choice.is_named();
        if is_asked && plans.iter().any(|plan| !plan.chosen.is_empty()) && !ask(&plans)? {
            terminal::print_note("nothing was written");
            return Ok(exit);
        }
        if self.dry_run && plans.iter().all(|plan| plan.chosen.is_empty()) {
            terminal::print_note("nothing to change");
        }
        for plan in plans {
            if let Err(error) = self.carry_out(&plan, &folders) {
                terminal::print_error(&error);
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }

    /// What is to be done. Files that cannot be read are reported.
    fn plans(&self, folders: &Folders) -> anyhow::Result<(Vec<Plan>, Exit)> {
        let (mut plans, mut exit) = (Vec::new(), Exit::Clean);
        for file in self.choice.files(folders)? {
            let plan = file.and_then(|file| {
                let all = file.servers()?;
                let guards = Guards::read(&file, &folders.data())?;
                let is_chosen = |server: &&Server| match &server.start {
                    _ if guards.is_guarded(server) && missing_program(server).is_none() => false,
                    _ if self.choice.is_named() => self.choice.names(server),
                    start => matches!(start, Start::Command { .. }),
                };
                let chosen = all.iter().filter(is_chosen).cloned().collect();
                Ok(Plan { file, guards, all, chosen })
            });
            match plan {
                Ok(plan) => plans.push(plan),
                Err(error) => {
                    terminal::print_error(&error);
                    exit = Exit::Failed;
                }
            }
        }
        if plans.is_empty() && exit == Exit::Failed && self.choice.is_named() {
            // There is nothing that a name could be looked up in.
            return Err(anyhow!("nothing was written"));
        }
        Ok((plans, exit))
    }

    fn carry_out(&self, plan: &Plan, folders: &Folders) -> anyhow::Result<()> {
        let Plan { file, guards, chosen, .. } = plan;
        for server in chosen {
            if let Some(warning) = warning(&server.start) {
                terminal::print_warning(&format!("`{}`: {warning}", server.name));
            }
            if let Start::Remote { url, headers } = &server.start {
                check_open(url, headers).map_err(|error| {
                    anyhow!("{}: `{}`: {error:#}; nothing was written", file.name, server.name)
                })?;
            }
        }
        if !chosen.is_empty() {
            let wrapper = wrapper(self.via, file.is_project)?;
            let document = file.document()?;
            let unwritten = |error| anyhow!("{}: {error}; nothing was written", file.name);
            let new = repoint(&document, chosen, &wrapper).map_err(unwritten)?;
            let document = Document::parse(&new, file.client.syntax)?;
            let new = wrap(&document, chosen, &wrapper).map_err(unwritten)?;
            if self.dry_run {
                return Ok(write_diff(&file.name, &file.text, &new, &file.secrets()?)?);
            }
            file.check()?;
            Record::write(&folders.data(), &file.real, &guards.text_before(file)?, &new)?;
            file.write(&new)?;
        }
        if !self.dry_run {
            self.report(plan, folders)?;
        }
        Ok(())
    }

    /// Says what became of each server.
    fn report(&self, plan: &Plan, folders: &Folders) -> io::Result<()> {
        let Plan { file, guards, all, chosen } = plan;
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", printable(&file.name))?;
        let names: HashSet<_> = chosen.iter().map(full_name).collect();
        let is_chosen = |server: &Server| names.contains(&full_name(server));
        for server in all {
            let name = full_name(server);
            let what = match &server.start {
                _ if self.choice.is_named() && !self.choice.names(server) => continue,
                _ if is_chosen(server) => {
                    if let Some(path) = missing_program(server) {
                        let was = path.display().to_string();
                        let (name, was) = (printable(&name), printable(&was));
                        writeln!(out, "  {name}: guarded again: there is no {was} any more")?;
                        continue;
                    }
                    "guarded now"
                }
                Start::Command { guard: Some(_), .. } if server.verb().is_none() => {
                    "left as it is: it seems to start `toolbond guard` itself"
                }
                _ if guards.is_guarded(server) => "guarded already",
                Start::Remote { .. } => "left as it is: it is on HTTP (name it to wrap it)",
                Start::Unknown(reason) => reason,
                Start::Command { .. } => continue,
            };
            writeln!(out, "  {}: {what}", printable(&name))?;
        }
        if all.is_empty() {
            writeln!(out, "  no servers: {}", expected_keys(file.client))?;
        }
        if !chosen.is_empty() {
            if let Some(record) = Record::read(&folders.data(), &file.real) {
                writeln!(out, "  a copy without guards: {}", shown(record.copy(), folders))?;
            }
            writeln!(out, "  restart {} to use the guard", file.client.title)?;
            if file.is_project && self.via.is_none() {
                terminal::print_note(
                    "others who use this file need toolbond at the same path; --via npx and --via uvx write a command for everyone",
                );
            }
        }
        Ok(())
    }
}

/// What may be wrong with a server that is wrapped as it is.
fn warning(start: &Start) -> Option<&'static str> {
    let is_random = |part: &str| {
        part.len() >= 20
            && part.contains(|c: char| c.is_ascii_digit())
            && part.contains(|c: char| c.is_ascii_alphabetic())
    };
    match start {
        Start::Command { program, guard: None, .. }
            if program.split_whitespace().count() > 1 && !Path::new(program).exists() =>
        {
            Some("its command is one word with spaces: put the words after the first into `args`")
        }
        Start::Remote { url, .. } if url.split('/').skip(3).any(is_random) => {
            Some("if the path of its URL is secret: other users can read it in the command line")
        }
        _ => None,
    }
}

/// Where servers would be in a file of `client`.
fn expected_keys(client: &Client) -> String {
    let keys: Vec<_> = client.servers.iter().map(|keys| format!("`{}`", keys.join("."))).collect();
    format!("expected them in {}", keys.join(" or "))
}

/// Asks whether to go on.
fn ask(plans: &[Plan]) -> anyhow::Result<bool> {
    let chosen = plans.iter().filter(|plan| !plan.chosen.is_empty());
    let lines = chosen.map(|plan| {
        let names: Vec<_> = plan.chosen.iter().map(full_name).collect();
        format!("{}: {}", plan.file.name, names.join(", "))
    });
    let question = "Put the guard in front of these servers?";
    confirm(lines, question, "expected the names of servers, or --yes for all of them")
}
