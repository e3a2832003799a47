//! Fetches the tool list of a live server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::time::timeout;
use toolbond_guard::Child;
use toolbond_guard::Client;
use toolbond_guard::live::{self, Calls, Listed, Opening, ToolsError};
use toolbond_listen::Signals;

use crate::header::HeaderTemplate;
use crate::input::Document;
use crate::progress::with_progress;
use crate::watchdog::start_watchdog;

/// Options for live servers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Live servers")]
pub(crate) struct LiveOptions {
    /// Send this header to the server at URL; may be repeated. `$NAME` and `${NAME}` are the values of environment variables,
    /// so that no secret stands in the command line: `--header 'Authorization: Bearer $TOKEN'`
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = HeaderTemplate::parse)]
    headers: Vec<HeaderTemplate>,

    /// Also trust the certificates in this PEM file, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// How long a server may take to start and to list its tools; it may have to download a package
    /// first
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

/// Returns `path` as text if it is a URL.
pub(crate) fn as_url(path: &Path) -> Option<&str> {
    path.to_str().filter(|url| url.starts_with("http://") || url.starts_with("https://"))
}

/// Whether a signal ended the server.
pub(crate) fn is_interrupted(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ToolsError::Interrupted { .. }))
}

impl LiveOptions {
    /// Fetches the tools of the server at `url`, and makes `calls`.
    pub(crate) fn fetch_from_url(
        &self,
        url: &str,
        calls: &Calls,
    ) -> anyhow::Result<Document<'static>> {
        let client = Client::new(self.ca_file.as_deref())?;
        let headers = self.headers.iter().map(HeaderTemplate::fill).collect::<Result<_, _>>()?;
        let tools = live::http_tools(client, url, headers, self.timed(calls))?;
        let document = self.run(url, calls.calls.len(), async {
            let mut signals = Signals::register(true)?;
            let tools = tokio::select! {
                tools = tools => tools,
                caught = signals.next() => Err(ToolsError::Interrupted { code: caught.exit_code() }),
            };
            tools.with_context(|| url.to_owned())
        })?;
        // Several servers may have one name.
        let name =
            if document.name == url { document.name } else { format!("{} ({url})", document.name) };
        Ok(Document { name, ..document })
    }

    /// Starts `command`, fetches its tools, makes `calls`, and ends it.
    pub(crate) fn fetch_from_command(
        &self,
        command: &[OsString],
        calls: &Calls,
    ) -> anyhow::Result<Document<'static>> {
        let (program, arguments) = command.split_first().context("no command")?;
        let name = program.to_string_lossy().into_owned();
        self.run(&name, calls.calls.len(), async {
            let fetch = async |opening| {
                let child = Child::start(program, arguments)?;
                let _watchdog = child.id().and_then(start_watchdog);
                anyhow::Ok(live::stdio_tools(child, opening, self.timed(calls)).await)
            };
            let tools = match fetch(Opening::Initialize).await? {
                Err(error) if error.may_want_modern() => fetch(Opening::Modern).await?,
                tools => tools,
            };
            tools.with_context(|| name.clone())
        })
    }

    /// The same calls, with their limit of time.
    fn timed(&self, calls: &Calls) -> Calls {
        let mut calls = calls.clone();
        calls.timeout = Duration::from_secs(self.timeout);
        calls
    }

    /// Waits for the tools of the server `name`, and shows on a terminal that it does.
    fn run(
        &self,
        name: &str,
        calls: usize,
        tools: impl Future<Output = anyhow::Result<Listed>>,
    ) -> anyhow::Result<Document<'static>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Calls have limits of their own.
        let limit = self.timeout.saturating_mul(1 + calls as u64);
        let limit = Duration::from_secs(limit);
        let listed = runtime.block_on(with_progress(
            &format!("waiting for the tools of {name}"),
            async {
                timeout(limit, tools).await.unwrap_or_else(|_| {
                    Err(anyhow!("{name}: no tool list within {} s", limit.as_secs()))
                })
            },
        ))?;
        let name = listed.name.unwrap_or_else(|| name.to_owned());
        Ok(Document {
            source: name.clone(),
            is_file: false,
            name,
            line: 1,
            text: None,
            value: listed.first,
            second: listed.second,
            results: listed.results,
        })
    }
}
