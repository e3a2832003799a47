//! The tool list of a live server, as a process or on HTTP.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;
use toolpact_guard::http::Client;
use toolpact_guard::{Child, live};

use crate::input::Document;
use crate::watchdog::watchdog;

/// How long a server may take to start and to list its tools: a package may have to be fetched first.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server on HTTP.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Remote {
    /// Send this header to the server at URL, as in `--header "Authorization: Bearer …"`; may be
    /// repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    /// Trust the certificates in this PEM file, too, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`, found no colon")?;
    let name = name.trim().parse().map_err(|_| format!("`{name}` is no name of a header"))?;
    let mut value: HeaderValue =
        value.trim().parse().map_err(|_| format!("the value of `{name}` is none of a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Whether `path` is a URL.
pub(crate) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|url| url.starts_with("http://") || url.starts_with("https://"))
}

impl Remote {
    /// Asks the server at `url` for its tools.
    pub(crate) fn tools(&self, url: &str) -> anyhow::Result<Document<'static>> {
        let client = Client::new(self.ca_file.as_deref())?;
        let tools = live::http_tools(client, url, self.headers.iter().cloned().collect())?;
        wait(url, async { tools.await.with_context(|| url.to_owned()) })
    }
}

/// Starts `command`, asks it for its tools, and ends it.
pub(crate) fn tools(command: &[OsString]) -> anyhow::Result<Document<'static>> {
    let (program, arguments) = command.split_first().context("no command")?;
    let name = program.to_string_lossy().into_owned();
    wait(&name, async {
        let child = Child::start(program, arguments)?;
        let _watchdog = child.id().and_then(watchdog);
        live::stdio_tools(child).await.with_context(|| name.clone())
    })
}

fn wait(
    name: &str,
    tools: impl Future<Output = anyhow::Result<Value>>,
) -> anyhow::Result<Document<'static>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let value = runtime.block_on(async {
        match tokio::time::timeout(PATIENCE, tools).await {
            Ok(tools) => tools,
            Err(_) => Err(anyhow!("{name}: no tool list within {} s", PATIENCE.as_secs())),
        }
    })?;
    let name = name.to_owned();
    Ok(Document { source: name.clone(), name, line: 1, text: None, value })
}
