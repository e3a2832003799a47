//! Asking the servers of a configuration for their tools.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::{anyhow, bail};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use tokio::time::timeout;
use toolbond_guard::live::{self, Calls, Listed, Opening, ToolsError};
use toolbond_guard::{Client, Launch};
use toolbond_listen::Signals;

/// How long a server on HTTP may take to answer, before a guard is put in front of it.
const OPEN_WITHIN: Duration = Duration::from_secs(30);

/// The server wants a sign-in.
#[derive(Debug)]
pub(crate) struct SignIn(hyper::StatusCode);

impl fmt::Display for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server wants a sign-in ({}), which only the client can do", self.0)
    }
}

impl std::error::Error for SignIn {}

/// Checks that the server at `url` lists its tools without a sign-in, which a guard cannot do for a client.
pub(crate) fn check_open(url: &str, headers: &BTreeMap<String, String>) -> anyhow::Result<()> {
    if let Some((name, _)) = headers.iter().find(|(_, value)| value.contains("${")) {
        bail!("header `{name}` refers to a variable of the client, so the server cannot be asked");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(ask_url(url, headers, OPEN_WITHIN)).map(drop)
}

/// Fetches the tools of the server at `url`.
pub(crate) async fn ask_url(
    url: &str,
    headers: &BTreeMap<String, String>,
    limit: Duration,
) -> anyhow::Result<Listed> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = || anyhow!("header `{name}` cannot be sent");
        let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(HeaderName::try_from(name).map_err(|_| wrong())?, value);
    }
    let tools = live::http_tools(Client::new(None)?, url, map, once(None))?;
    let mut signals = Signals::register(true)?;
    let answer = tokio::select! {
        answer = timeout(limit, tools) => answer,
        caught = signals.next() => return Err(ToolsError::Interrupted { code: caught.exit_code() }.into()),
    };
    match answer.map_err(|_| anyhow!("no tool list within {} s", limit.as_secs()))? {
        Ok(listed) => Ok(listed),
        Err(ToolsError::Status { status, .. }) if matches!(status.as_u16(), 401 | 403) => {
            Err(SignIn(status).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// No call, and one list.
fn once(limit: Option<Duration>) -> Calls {
    let mut calls = Calls::default();
    (calls.lists_once, calls.answer_within) = (true, limit);
    calls
}

/// Starts a server, fetches its tools, and ends it. Each answer may take as long as `limit`, and all twice as long.
pub(crate) async fn ask_command(launch: &Launch, limit: Duration) -> anyhow::Result<Listed> {
    let calls = once(Some(limit));
    let ask = async |opening| {
        // Before the server is there: a signal that comes while it starts waits until the runtime looks for signals, and
        // those who ask it are told then.
        let _signals = Signals::register(true)?;
        let (child, _watchdog) = launch.clone().start_quietly()?;
        anyhow::Ok(live::stdio_tools(child, opening, calls.clone()).await)
    };
    let first = ask(Opening::Initialize).await?;
    let Err(error) = first else { return Ok(first?) };
    if !error.may_want_modern() {
        return Err(error.into());
    }
    // One that ends without a word is asked again as clients of 2026-07-28 do; if that fails too, the first error tells.
    ask(Opening::Modern).await?.map_err(|_| error.into())
}
