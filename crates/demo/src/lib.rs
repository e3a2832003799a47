//! The demo server, and what clients of two protocol revisions see of it.
//!
//! The functions block and run a `tokio` runtime of their own, so that the code of `rmcp` is compiled here, beside the
//! guard, and not in the command.

mod server;
mod tour;

use std::io::Write;
use std::net::SocketAddr;

use tokio::runtime::{Builder, Runtime};

use crate::server::DemoServer;

/// Calls the tools of the demo server as clients of two revisions, and writes one screen about what they get.
///
/// # Errors
///
/// Fails if `out` cannot be written.
pub fn write_tour(out: &mut dyn Write) -> anyhow::Result<()> {
    runtime()?.block_on(tour::write_tour(out))
}

/// Serves the demo on standard input and output until the input ends or a signal comes.
///
/// # Errors
///
/// Fails if the handshake with the client fails.
pub fn serve_stdio() -> anyhow::Result<()> {
    Ok(runtime()?.block_on(toolbond::serve_stdio(DemoServer))?)
}

/// Serves the demo on Streamable HTTP until a signal comes. `on_listening` gets the address.
///
/// # Errors
///
/// Fails if the address is not available, or if `on_listening` fails.
pub fn serve_http(
    address: SocketAddr,
    on_listening: &dyn Fn(SocketAddr) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let http = toolbond::Http::bind(address).await?;
        on_listening(http.local_addr())?;
        Ok(http.serve(DemoServer).await?)
    })
}

fn runtime() -> anyhow::Result<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}
