//! The tool list of a live server.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use toolpact_guard::stdio::{self, Server};

use crate::input::Document;

/// How long a server may take to start and to list its tools: a package may have to be fetched first.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts `command`, asks it for its tools, and ends it.
pub(crate) fn tools(command: &[OsString]) -> anyhow::Result<Document<'static>> {
    let (program, arguments) = command.split_first().context("no command")?;
    let name = program.to_string_lossy().into_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let value = runtime.block_on(async {
        let server = Server::start(program, arguments)?;
        match tokio::time::timeout(PATIENCE, stdio::tools(server)).await {
            Ok(tools) => tools.with_context(|| name.clone()),
            Err(_) => Err(anyhow!("{name}: no tool list within {} s", PATIENCE.as_secs())),
        }
    })?;
    Ok(Document { source: name.clone(), name, line: 1, text: None, value })
}
