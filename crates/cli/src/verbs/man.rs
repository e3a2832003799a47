//! `toolbond man`: writes manual pages.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Command;

use crate::exit::Exit;

/// Write manual pages into a folder: toolbond.1 and one page for each verb.
#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder, which is created where it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Man {
    /// `command` is all of `toolbond`.
    pub(crate) fn run(self, command: Command) -> anyhow::Result<Exit> {
        let folder = &self.folder;
        fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder))
            .with_context(|| format!("cannot write manual pages into {}", folder.display()))?;
        Ok(Exit::Clean)
    }
}
