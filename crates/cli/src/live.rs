//! Fetches the tool list of a live server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;
use toolpact_guard::Child;
use toolpact_guard::http::Client;
use toolpact_guard::live::{self, Opening, ToolsError};

use crate::input::Document;
use crate::watchdog::start_watchdog;

/// How long a server may take to start and to list its tools. It may have to download a package first.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Options for a server on HTTP.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct HttpOptions {
    /// Send this header to the server at URL, for example `--header "Authorization: Bearer …"`; may be
    /// repeated
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    headers: Vec<(HeaderName, HeaderValue)>,

    /// Also trust the certificates in this PEM file, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`, found no colon")?;
    let name = name.trim().parse().map_err(|_| format!("`{name}` is not a valid header name"))?;
    let mut value: HeaderValue = value
        .trim()
        .parse()
        .map_err(|_| format!("the value of header `{name}` has invalid characters"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Returns `path` as text if it is a URL.
pub(crate) fn as_url(path: &Path) -> Option<&str> {
    path.to_str().filter(|url| url.starts_with("http://") || url.starts_with("https://"))
}

impl HttpOptions {
    /// Fetches the tools of the server at `url`.
    pub(crate) fn fetch_tools(&self, url: &str) -> anyhow::Result<Document<'static>> {
        let client = Client::new(self.ca_file.as_deref())?;
        let tools = live::http_tools(client, url, self.headers.iter().cloned().collect())?;
        run_with_timeout(url, async { tools.await.with_context(|| url.to_owned()) })
    }
}

/// Starts `command`, fetches its tools, and ends it.
pub(crate) fn fetch_tools(command: &[OsString]) -> anyhow::Result<Document<'static>> {
    let (program, arguments) = command.split_first().context("no command")?;
    let name = program.to_string_lossy().into_owned();
    run_with_timeout(&name, async {
        let fetch = async |opening| {
            let child = Child::start(program, arguments)?;
            let _watchdog = child.id().and_then(start_watchdog);
            anyhow::Ok(live::stdio_tools(child, opening).await)
        };
        let tools = match fetch(Opening::Initialize).await? {
            Err(ToolsError::Ended(_)) => fetch(Opening::Modern).await?,
            tools => tools,
        };
        tools.with_context(|| name.clone())
    })
}

fn run_with_timeout(
    name: &str,
    tools: impl Future<Output = anyhow::Result<Value>>,
) -> anyhow::Result<Document<'static>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let value = runtime.block_on(async {
        match tokio::time::timeout(TIMEOUT, tools).await {
            Ok(tools) => tools,
            Err(_) => Err(anyhow!("{name}: no tool list within {} s", TIMEOUT.as_secs())),
        }
    })?;
    let name = name.to_owned();
    Ok(Document { source: name.clone(), name, line: 1, text: None, value })
}
