//! Serving: over standard input and output, or over HTTP.

mod error;
mod http;
mod listen;
mod sessions;
mod signal;
mod stdin;

use std::io::Write as _;

pub use error::ServeError;
pub use http::Http;
use rmcp::{ServerHandler, ServiceExt as _};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{Options, enforce_with};

/// What `--help` says.
const HELP: &str = "\
An MCP server. Without arguments it speaks over standard input and output.

      --http ADDR  serve Streamable HTTP at http://ADDR/mcp, such as localhost:8080
  -h, --help       say this

The log goes to standard error; RUST_LOG says how much of it, such as warn or toolpact=debug.";

/// Serves `server` behind the contract of its tools, as the command line says: over standard input and
/// output, or with `--http ADDR` over Streamable HTTP at `http://ADDR/mcp`; `--help` says so.
///
/// Requests for capabilities that the server does not declare are not answered
/// ([`Options::declared_only`]). The log goes to standard error, from the level `info` on (`rmcp` from `warn` on); `RUST_LOG` says otherwise, by
/// level and target (`RUST_LOG=warn,toolpact=debug`), and a subscriber that was set before stays. Returns when the client has closed standard
/// input, or after SIGINT or SIGTERM, with the calls that were under way answered if that takes no more than five seconds.
///
/// ```no_run
/// #[derive(Clone)]
/// struct Dice;
///
/// #[toolpact::tools]
/// impl Dice {
///     /// Rolls a die.
///     #[tool]
///     fn roll(&self) -> u8 {
///         4
///     }
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), toolpact::ServeError> {
///     toolpact::serve(Dice).await
/// }
/// ```
///
/// # Errors
///
/// Where the command line says anything else, the address cannot be listened on, or the handshake with the client fails.
pub async fn serve<H: ServerHandler + Clone>(server: H) -> Result<(), ServeError> {
    serve_with(server, usual()).await
}

/// [`serve`] with other options than `Options::default().declared_only(true)`.
///
/// # Errors
///
/// As [`serve`].
pub async fn serve_with<H: ServerHandler + Clone>(
    server: H,
    options: Options,
) -> Result<(), ServeError> {
    if std::env::args().skip(1).any(|word| word == "--help" || word == "-h") {
        // Nobody may be there to read it.
        _ = writeln!(std::io::stdout(), "{HELP}");
        return Ok(());
    }
    log();
    match address(std::env::args().skip(1))? {
        None => stdio(enforce_with(server, options)).await,
        Some(address) => {
            let http = Http::bind(address).await?;
            tracing::info!(target: "toolpact", "listening on http://{}/mcp", http.address());
            http.options(options).serve(server).await
        }
    }
}

/// Serves `server` behind the contract of its tools over standard input and output; see [`serve`].
///
/// # Errors
///
/// Where the handshake with the client fails.
pub async fn serve_stdio<H: ServerHandler>(server: H) -> Result<(), ServeError> {
    stdio(enforce_with(server, usual())).await
}

/// What a server is held to, unless said otherwise.
fn usual() -> Options {
    Options::default().declared_only(true)
}

async fn stdio(server: impl ServerHandler) -> Result<(), ServeError> {
    match server.serve((stdin::stdin(), tokio::io::stdout())).await {
        Ok(running) => {
            // The service ended by itself, or could not be waited for: either way it is over.
            _ = running.waiting().await;
            Ok(())
        }
        // A client that says nothing and goes is no mistake.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Handshake(Box::new(error))),
    }
}

/// Sends the log to standard error, unless the program has set up its own.
fn log() {
    let usual =
        Targets::new().with_default(LevelFilter::INFO).with_target("rmcp", LevelFilter::WARN);
    let wanted = std::env::var("RUST_LOG").unwrap_or_default();
    let (filter, problem) = match wanted.parse() {
        _ if wanted.is_empty() => (usual, None),
        Ok(filter) => (filter, None),
        Err(problem) => (usual, Some(problem)),
    };
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    _ = tracing_subscriber::registry().with(layer).with(filter).try_init();
    if let Some(problem) = problem {
        tracing::warn!(target: "toolpact", "RUST_LOG is not read: {problem}");
    }
}

/// The address after `--http`, if there is one.
fn address(mut words: impl Iterator<Item = String>) -> Result<Option<String>, ServeError> {
    let Some(word) = words.next() else { return Ok(None) };
    let address = match word.strip_prefix("--http") {
        Some("") => words.next().unwrap_or_default(),
        Some(rest) if rest.starts_with('=') => rest[1..].to_owned(),
        _ => return Err(ServeError::Usage { found: word }),
    };
    if let Some(found) = words.next() {
        return Err(ServeError::Usage { found });
    }
    Ok(Some(address))
}

#[cfg(test)]
mod tests {
    use super::address;

    fn read(line: &str) -> Result<Option<String>, String> {
        let words = line.split_whitespace().map(str::to_owned);
        address(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_empty_or_names_an_address() {
        let at = Ok(Some("127.0.0.1:80".to_owned()));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("--http 127.0.0.1:80"), at);
        assert_eq!(read("--http=127.0.0.1:80"), at);
        for (line, error) in [
            ("--port", "expected no arguments or `--http ADDR`, found `--port`"),
            ("--https", "expected no arguments or `--http ADDR`, found `--https`"),
            ("--http 127.0.0.1:80 x", "expected no arguments or `--http ADDR`, found `x`"),
        ] {
            assert_eq!(read(line), Err(error.to_owned()));
        }
    }
}
