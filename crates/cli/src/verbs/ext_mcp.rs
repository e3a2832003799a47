//! `toolbond ext-mcp`: the contract as a service for agentgateway.

use std::net::SocketAddr;

use toolbond_guard::ExtMcp as Service;
use toolbond_guard::config::Front;

use super::gateway::{Gateway, GatewayOptions, local};
use crate::address::parse_address;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  toolbond ext-mcp --config toolbond.toml --listen 127.0.0.1:9003
  toolbond ext-mcp --config toolbond.toml --check-config";

/// Put the contract into agentgateway.
///
/// Serves the gRPC service `ExtMcp`, which agentgateway asks before it forwards a request or a result. It checks tools,
/// arguments and results against the schemas of each server, as `toolbond guard` does, and shapes them for the protocol
/// revision of the client.
///
/// `toolbond.toml` names the servers as agentgateway names its backends, each with its `url`, where the tool list is
/// fetched for a call. The configuration of agentgateway has to send back the metadata `toolbond` with each result.
///
/// Run as many replicas as you like: they share nothing. On SIGTERM the health check (`grpc.health.v1`) says so, and
/// open requests finish.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExtMcp {
    /// The address to listen on for agentgateway
    #[arg(long, value_name = "ADDR", value_parser = parse_address, default_value_t = local(9003))]
    listen: SocketAddr,

    #[command(flatten)]
    options: GatewayOptions,
}

impl ExtMcp {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let (name, front) = ("agentgateway", Front::MessageGateway);
        let gateway = Gateway { name, front, listen: self.listen };
        self.options.run(&gateway, |fleet, listener, end, drain| {
            Service::new(fleet).serve(listener, end, drain)
        })
    }
}
