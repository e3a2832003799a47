//! `toolbond completions`: prints what a shell completes.

use std::io::Write as _;

use clap::Command;
use clap_complete::{Shell, generate};

use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  toolbond completions bash > ~/.local/share/bash-completion/completions/toolbond
  toolbond completions zsh > ~/.zfunc/_toolbond
  toolbond completions fish > ~/.config/fish/completions/toolbond.fish
  toolbond completions powershell >> $PROFILE";

/// Print the completions of verbs and options for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl Completions {
    /// `command` is all of `toolbond`.
    pub(crate) fn run(self, mut command: Command) -> anyhow::Result<Exit> {
        // `generate` panics where it cannot write, as to a closed pipe.
        let mut script = Vec::new();
        generate(self.shell, &mut command, "toolbond", &mut script);
        anstream::stdout().write_all(&script)?;
        Ok(Exit::Clean)
    }
}
