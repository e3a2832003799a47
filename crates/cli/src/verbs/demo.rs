//! `toolpact demo`: a server to try things with, and what clients see of it.

use std::io::Write as _;
use std::net::SocketAddr;

use crate::address::address;
use crate::demo::{Server, tour};
use crate::exit::Outcome;

/// See one server as clients of two protocol revisions do; or serve it.
///
/// Shows, on one screen, what a client of 2025-11-25 and one of 2026-07-28 each get of the same tools and
/// calls, what a model reads after a wrong call, and how hostile schemas end. Needs no files and changes none.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Serve it on standard input and output
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve it on Streamable HTTP, at `/mcp` of this address, such as localhost:8080
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        tokio::runtime::Runtime::new()?.block_on(async {
            match self.http {
                Some(address) => {
                    let http = toolpact::Http::bind(address).await?;
                    let mut err = anstream::stderr();
                    writeln!(err, "listening on http://{}/mcp", http.address())?;
                    http.serve(Server).await?;
                }
                None if self.stdio => toolpact::serve_stdio(Server).await?,
                None => tour(&mut anstream::stdout().lock()).await?,
            }
            Ok(Outcome::Clean)
        })
    }
}
