//! `toolbond doctor`: the servers of all clients on this machine.

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::bail;
use clap::ValueEnum;
use toolbond_clients::Server;
use toolbond_guard::Orphans;

use crate::configs::{Choice, ConfigFile, folders};
use crate::confirm::confirm;
use crate::doctor::{State, check, lines, write_json, write_text};
use crate::exit::Exit;
use crate::progress::{self, with_progress};
use crate::terminal::{self, printable};

const EXAMPLES: &str = "\
Examples:
  toolbond doctor                    every server of every client, after asking
  toolbond doctor claude-desktop
  toolbond doctor --yes --format json codex filesystem

Exit code 0: all servers that were asked work; 1: one does not, or only in part; 2: a configuration could not be read.";

/// How checkups are written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum DoctorFormat {
    /// For people.
    #[default]
    Text,
    /// JSON, one object for each server.
    Json,
}

/// Check the servers of the clients on this machine.
///
/// Starts each server as its client does, asks for its tools, and ends it: does it start, which protocol
/// revision does it speak, can this client use its tools, and what would the guard change. It calls no tool.
/// What servers write to standard error is not shown, and values of `env`, headers and options such as
/// `--api-key` are left out of what is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    #[command(flatten)]
    choice: Choice,

    /// Start the servers without asking
    #[arg(long, short)]
    yes: bool,

    /// How long a server may take for each answer; it may have to download a package first
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,

    /// How the report is written
    #[arg(long, value_enum, default_value_t)]
    format: DoctorFormat,

    /// What `--format json` does
    #[arg(long, hide = true)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(mut self) -> anyhow::Result<Exit> {
        if self.json {
            bail!("there is no --json: write --format json");
        }
        self.choice = self.choice.settle();
        let folders = folders()?;
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
        if self.choice.is_named() {
            for (servers, _) in &mut files {
                servers.retain(|server| self.choice.names(server));
            }
        }
        let mut asked = Vec::new();
        for (servers, file) in &files {
            let lines = lines(&file.document()?, servers);
            asked.extend((!lines.is_empty()).then(|| file.name.clone()));
            asked.extend(lines);
        }
        let question = "Start these servers and ask for their tools?";
        let is_asked = !self.yes && !asked.is_empty();
        if is_asked && !confirm(asked, question, "expected --yes: it starts servers")? {
            return Ok(exit);
        }
        let orphans = Orphans::adopt();
        for (servers, file) in files {
            exit = exit.max(self.check_file(&file, &servers, &orphans)?);
        }
        Ok(exit)
    }

    /// Checks the servers of one file, one after the other.
    fn check_file(
        &self,
        file: &ConfigFile,
        servers: &[Server],
        orphans: &Orphans,
    ) -> anyhow::Result<Exit> {
        let document = file.document()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        if matches!(self.format, DoctorFormat::Text) {
            let mut out = anstream::stdout().lock();
            writeln!(out, "{}: {}", file.client.title, printable(&file.name))?;
            if servers.is_empty() {
                writeln!(out, "  no servers")?;
            }
        }
        let mut exit = Exit::Clean;
        for server in servers {
            let limit = Duration::from_secs(self.timeout);
            let work = check(file, &document, server, limit);
            let checkup =
                runtime.block_on(with_progress(&format!("checking {}", server.name), work));
            orphans.end();
            progress::clear();
            let checkup = checkup?;
            if matches!(checkup.state, State::Impaired | State::Fails) {
                exit = Exit::Findings;
            }
            match self.format {
                DoctorFormat::Text => write_text(&checkup, &mut anstream::stdout().lock())?,
                DoctorFormat::Json => write_json(&checkup, &mut io::stdout().lock())?,
            }
        }
        Ok(exit)
    }
}
