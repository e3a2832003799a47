//! A server as a command-line program: its arguments and its log.

use std::io::Write as _;

use rmcp::ServerHandler;

use super::{
    error::ServeError,
    http::Http,
    log::{Levels, Log},
    stdio::serve_stdio_with,
};
use crate::ServerOptions;

/// The output of `--help`.
const HELP: &str = "\
An MCP server. Without arguments it speaks over standard input and output.

      --http ADDR  Serve Streamable HTTP at http://ADDR/mcp, for example localhost:8080
  -h, --help       Print help

The log goes to standard error. RUST_LOG sets its level, for example warn or toolbond=debug.";

/// Runs `server` as a whole program: takes over its command line and its log.
///
/// A program with its own command line or its own `tracing` subscriber calls [`serve_stdio`](crate::serve_stdio) or
/// [`Http::serve`] instead.
///
/// ```no_run
/// #[derive(Clone)]
/// struct Dice;
///
/// #[toolbond::tools]
/// impl Dice {
///     /// Rolls a die.
///     #[tool]
///     fn roll(&self) -> u8 {
///         4
///     }
/// }
///
/// #[tokio::main]
/// async fn main() -> Result<(), toolbond::ServeError> {
///     toolbond::serve_cli(Dice).await
/// }
/// ```
///
/// | arguments of the program | effect |
/// | --- | --- |
/// | none | serves over standard input and output |
/// | `--http ADDR` | serves Streamable HTTP at `http://ADDR/mcp` |
/// | `--help` | prints the arguments |
///
/// The log goes to standard error, from level `info` on (`rmcp`: from `warn` on). `RUST_LOG` changes that by level and
/// target, for example `RUST_LOG=warn,toolbond=debug`. A subscriber that the program has already set stays.
///
/// With the feature `otel` it exports traces, metrics and logs if the variables of OpenTelemetry, such as
/// `OTEL_EXPORTER_OTLP_ENDPOINT`, ask for that.
///
/// The options are `ServerOptions::default().declared_capabilities_only(true)`.
///
/// Returns when the client closes standard input, or after SIGINT or SIGTERM. Calls in progress then have five seconds
/// to finish.
///
/// # Errors
///
/// Fails if the program has other arguments, the address is not available, or the handshake with the client fails.
pub async fn serve_cli<H: ServerHandler + Clone>(server: H) -> Result<(), ServeError> {
    serve_cli_with(server, ServerOptions::of_program()).await
}

/// [`serve_cli`] with other options.
///
/// # Errors
///
/// The same as [`serve_cli`].
pub async fn serve_cli_with<H: ServerHandler + Clone>(
    server: H,
    options: ServerOptions,
) -> Result<(), ServeError> {
    // Arguments need not be Unicode; those that are not are none of ours.
    let arguments =
        || std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    if arguments().any(|argument| argument == "--help" || argument == "-h") {
        // The reader may have closed standard output.
        _ = writeln!(std::io::stdout(), "{HELP}");
        return Ok(());
    }
    init_log();
    #[cfg(feature = "otel")]
    let export = crate::trace::export_from_env("toolbond-server");
    let outcome = match parse_arguments(arguments())? {
        None => serve_stdio_with(server, options).await,
        Some(address) => {
            let http = Http::bind(address).await?;
            tracing::info!(target: "toolbond", "listening on http://{}/mcp", http.local_addr());
            http.options(options).serve(server).await
        }
    };
    #[cfg(feature = "otel")]
    if let Some(export) = export {
        _ = tokio::task::spawn_blocking(move || export.shutdown()).await;
    }
    outcome
}

/// Sends the log to standard error, unless the program has set its own subscriber.
fn init_log() {
    let setting = std::env::var("RUST_LOG").unwrap_or_default();
    let (levels, error) = match setting.parse() {
        _ if setting.is_empty() => (Levels::default(), None),
        Ok(levels) => (levels, None),
        Err(error) => (Levels::default(), Some(error)),
    };
    _ = tracing::subscriber::set_global_default(Log::new(levels));
    if let Some(error) = error {
        tracing::warn!(target: "toolbond", "ignoring RUST_LOG: {error}");
    }
}

/// Returns the address after `--http`, if there is one.
fn parse_arguments(
    mut arguments: impl Iterator<Item = String>,
) -> Result<Option<String>, ServeError> {
    let Some(first) = arguments.next() else { return Ok(None) };
    let address = match first.strip_prefix("--http") {
        Some("") => arguments.next().unwrap_or_default(),
        Some(rest) if rest.starts_with('=') => rest[1..].to_owned(),
        _ => return Err(ServeError::Usage { found: first }),
    };
    if let Some(found) = arguments.next() {
        return Err(ServeError::Usage { found });
    }
    Ok(Some(address))
}

#[cfg(test)]
mod tests {
    use super::parse_arguments;

    fn parse(line: &str) -> Result<Option<String>, String> {
        let words = line.split_whitespace().map(str::to_owned);
        parse_arguments(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_empty_or_names_an_address() {
        let at = Ok(Some("127.0.0.1:80".to_owned()));
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("--http 127.0.0.1:80"), at);
        assert_eq!(parse("--http=127.0.0.1:80"), at);
        for (line, error) in [
            ("--port", "expected no arguments or `--http ADDR`, found `--port`"),
            ("--https", "expected no arguments or `--http ADDR`, found `--https`"),
            ("--http 127.0.0.1:80 x", "expected no arguments or `--http ADDR`, found `x`"),
        ] {
            assert_eq!(parse(line), Err(error.to_owned()));
        }
    }
}
