//! `toolbond demo`: shows what two clients see of one server, or serves it.

use std::io::Write as _;
use std::net::SocketAddr;

use crate::address::parse_address;
use crate::exit::Exit;

/// Show what clients of two protocol revisions see of one server, or serve it.
///
/// Shows on one screen what clients of 2025-11-25 and of 2026-07-28 get from the same calls, what a model
/// reads after an invalid call, and how hostile schemas are refused. Reads and writes no files.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Serve the demo on standard input and output
    #[arg(long, conflicts_with = "http")]
    stdio: bool,

    /// Serve the demo on Streamable HTTP at `/mcp` of this address, for example localhost:8080
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    http: Option<SocketAddr>,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        match self.http {
            Some(address) => toolbond_demo::serve_http(address, &|address| {
                Ok(writeln!(anstream::stderr(), "listening on http://{address}/mcp")?)
            })?,
            None if self.stdio => toolbond_demo::serve_stdio()?,
            None => toolbond_demo::write_tour(&mut anstream::stdout().lock())?,
        }
        Ok(Exit::Clean)
    }
}
