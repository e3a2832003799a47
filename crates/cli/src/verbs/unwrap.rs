//! `toolbond unwrap`: the configuration of a client as it was before `toolbond wrap`.

use std::io::{self, Write as _};

use anyhow::anyhow;
use toolbond_clients::{Folders, Lock, Record, Server, keep_copy};

use crate::configs::{Choice, ConfigFile, command_for, folders, full_name, shown};
use crate::diff::write_diff;
use crate::exit::Exit;
use crate::guards::{Guards, Unwrapped};
use crate::terminal::{self, printable};

/// Take the guard away from the servers of a client again.
///
/// If the file is still as `toolbond wrap` wrote it, it becomes byte for byte what it was before. If it was
/// changed since, only the guards go. Guards that you wrote yourself, or that have options, go only if you
/// name their server.
#[derive(Debug, clap::Args)]
pub(crate) struct Unwrap {
    #[command(flatten)]
    choice: Choice,

    /// Show which lines would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Nothing is asked; for scripts that say it to `toolbond wrap`
    #[arg(long, short, hide = true)]
    yes: bool,
}

impl Unwrap {
    pub(crate) fn run(mut self) -> anyhow::Result<Exit> {
        self.choice = self.choice.settle();
        let folders = folders()?;
        let _lock = if self.dry_run { None } else { Some(Lock::acquire(&folders.data())?) };
        let (mut files, mut exit) = (Vec::new(), Exit::Clean);
        for file in self.choice.files(&folders)? {
            match file.and_then(|file| Ok((file.servers()?, file))) {
                Ok(file) => files.push(file),
                Err(error) => {
                    terminal::print_error(&error);
                    exit = Exit::Failed;
                }
            }
        }
        if exit == Exit::Clean {
            self.choice.check_names(files.iter().flat_map(|(servers, _)| servers))?;
        }
        let mut any = false;
        for (servers, file) in &files {
            match self.carry_out(file, servers, &folders) {
                Ok(Some(done)) => {
                    any = true;
                    exit = exit.max(done);
                }
                Ok(None) => {}
                Err(error) => {
                    terminal::print_error(&error);
                    exit = Exit::Failed;
                }
            }
        }
        if !any && exit == Exit::Clean {
            terminal::print_note("no guard to take away");
        }
        Ok(exit)
    }

    /// Unwraps the servers of one file. Returns whether there are any.
    fn carry_out(
        &self,
        file: &ConfigFile,
        servers: &[Server],
        folders: &Folders,
    ) -> anyhow::Result<Option<Exit>> {
        let data = folders.data();
        let guards = Guards::read(file, &data)?;
        let (ours, others): (Vec<_>, Vec<_>) = servers
            .iter()
            .filter(|it| guards.is_guarded(it))
            .cloned()
            .partition(|it| guards.is_ours(it));
        let is_named = |server: &Server| self.choice.names(server);
        let is_chosen = |server: &Server| !self.choice.is_named() || is_named(server);
        let is_all = ours.iter().all(is_chosen);
        // A guard with options stays, and what its server was before is still needed.
        let is_needed = others.iter().any(|it| guards.is_known(it) && !is_named(it));
        let mut chosen: Vec<_> = ours.into_iter().filter(is_chosen).collect();
        let only_ours = !self.choice.is_named() || !others.iter().any(is_chosen);
        let mut left = Unwrapped::default();
        if self.choice.is_named() {
            chosen.extend(others.into_iter().filter(is_chosen));
        } else {
            left = guards.unwrap(file, &others)?;
        }
        if chosen.is_empty() && left.going.is_empty() && left.staying.is_empty() {
            return Ok(None);
        }
        let is_restored = guards.is_unchanged && is_all && only_ours && !is_needed;
        let new = if is_restored {
            Unwrapped { text: guards.text_before(file)?, going: chosen, staying: Vec::new() }
        } else {
            let new = guards.unwrap(file, &chosen);
            new.map_err(|error| anyhow!("{}: {error}; nothing was written", file.name))?
        };
        let staying: Vec<_> = new.staying.iter().chain(&left.staying).collect();
        let exit = if staying.is_empty() { Exit::Clean } else { Exit::Failed };
        let mut lines: Vec<_> = staying
            .iter()
            .map(|(server, reason)| format!("{}: left as it is: {reason}", full_name(server)))
            .collect();
        lines.extend(left.going.iter().map(|server| {
            let (name, why) = (full_name(server), Guards::why_named(server));
            format!(
                "{name}: left as it is: {why}; `{}` removes it",
                command_for("unwrap", file, server)
            )
        }));
        if self.dry_run {
            for line in lines {
                terminal::print_note(&line);
            }
            write_diff(&file.name, &file.text, &new.text, &file.secrets()?)?;
            return Ok(Some(exit));
        }
        let mut copy = None;
        if !new.going.is_empty() {
            file.check()?;
            if !is_restored {
                copy = Some(keep_copy(&data, &file.real, &file.text)?);
            }
            if let Some(record) =
                guards.record.as_ref().filter(|_| guards.is_unchanged && only_ours)
            {
                Record::write(&data, &file.real, &record.before, &new.text)?;
            }
            file.write(&new.text)?;
            if is_all
                && !is_needed
                && new.staying.is_empty()
                && let Some(record) = guards.record
            {
                record.delete()?;
            }
        }
        report(file, &new, &lines, copy.map(|copy| shown(&copy, folders)).as_deref())?;
        Ok(Some(exit))
    }
}

/// Says what became of each server.
fn report(
    file: &ConfigFile,
    new: &Unwrapped,
    lines: &[String],
    copy: Option<&str>,
) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", printable(&file.name))?;
    for server in &new.going {
        writeln!(out, "  {}: no longer guarded", printable(&full_name(server)))?;
    }
    for line in lines {
        writeln!(out, "  {}", printable(line))?;
    }
    if let Some(copy) = copy {
        writeln!(out, "  a copy with the guards: {}", printable(copy))?;
    }
    if !new.going.is_empty() {
        writeln!(out, "  restart {} to use it without the guard", file.client.title)?;
    }
    Ok(())
}
