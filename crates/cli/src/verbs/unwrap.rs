//! `toolbond unwrap`: the configuration of a client as it was before `toolbond wrap`.

use std::io::Write as _;
use std::path::Path;

use anyhow::anyhow;
use toolbond_clients::{Document, Lock, Record, Server, Start, unwrap};

use crate::configs::{Choice, ConfigFile, folders, full_name};
use crate::diff::write_diff;
use crate::exit::Exit;
use crate::terminal::{self, printable};

/// Take the guard away from the servers of a client again.
///
/// If the file is still as `toolbond wrap` wrote it, it becomes byte for byte what it was before. If it was
/// changed since, only the guards go.
#[derive(Debug, clap::Args)]
pub(crate) struct Unwrap {
    #[command(flatten)]
    choice: Choice,

    /// Show which lines would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Unwrap {
    pub(crate) fn run(mut self) -> anyhow::Result<Exit> {
        self.choice = self.choice.settle();
        let folders = folders()?;
        let data = folders.data();
        let _lock = if self.dry_run { None } else { Some(Lock::acquire(&data)?) };
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
            match self.carry_out(file, servers, &data) {
                Ok(done) => any |= done,
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
        data: &Path,
    ) -> anyhow::Result<bool> {
        let record = Record::read(data, &file.real);
        let known = match &record {
            Some(record) => Some(Document::parse(&record.before, file.client.syntax)?),
            None => None,
        };
        let written = known.as_ref().map(|known| known.servers(file.client)).unwrap_or_default();
        let mut chosen = ours(servers, &written);
        if self.choice.is_named() {
            chosen = servers
                .iter()
                .filter(|it| it.is_guarded() && self.choice.names(it))
                .cloned()
                .collect();
        }
        if chosen.is_empty() {
            return Ok(false);
        }
        let document = file.document()?;
        let rest = ours(servers, &written).len();
        let is_all = !self.choice.is_named() || rest == ours(&chosen, &written).len();
        let new = match &record {
            Some(record) if is_all && chosen.len() == rest && record.is_unchanged(&file.text) => {
                record.before.clone()
            }
            _ => unwrap(&document, &chosen, known.as_ref())
                .map_err(|error| anyhow!("{}: {error}; nothing was written", file.name))?,
        };
        if self.dry_run {
            write_diff(&file.name, &file.text, &new)?;
            return Ok(true);
        }
        if !is_all && let Some(record) = &record {
            file.check()?;
            Record::write(data, &file.real, &record.before, &new)?;
        }
        file.write(&new)?;
        if is_all && let Some(record) = record {
            record.delete()?;
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}", printable(&file.name))?;
        for server in &chosen {
            let is_ours = !matches!(
                server.start,
                Start::Command { guard: Some(toolbond_clients::Behind::Other), .. }
            );
            let what = if is_ours {
                "no longer guarded"
            } else {
                "left as it is: its guard was written by hand"
            };
            writeln!(out, "  {}: {what}", printable(&full_name(server)))?;
        }
        writeln!(out, "  restart {} to use it without the guard", file.client.title)?;
        Ok(true)
    }
}

/// Those of `servers` that `toolbond wrap` wrapped: they had no guard `before`, or their guard is as it writes one.
pub(super) fn ours(servers: &[Server], before: &[Server]) -> Vec<Server> {
    let is_ours =
        |server: &&Server| match before.iter().find(|it| full_name(it) == full_name(server)) {
            Some(before) => server.is_guarded() && !before.is_guarded(),
            None => server.is_wrapped(),
        };
    servers.iter().filter(is_ours).cloned().collect()
}
