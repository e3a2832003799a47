//! `toolbond ext-proc`: the contract as a service for Envoy.

use std::net::SocketAddr;

use toolbond_guard::ExtProc as Service;
use toolbond_guard::config::Front;

use super::gateway::{Gateway, GatewayOptions, local};
use crate::address::parse_address;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  toolbond ext-proc --config toolbond.toml --listen 127.0.0.1:9002
  toolbond ext-proc --config toolbond.toml --check-config";

/// Put the contract into Envoy.
///
/// Serves the gRPC service of Envoy's filter `ext_proc`. Envoy sends it the requests and responses of MCP
/// servers; it checks tools, arguments and results against the schemas of each server, as `toolbond guard` does,
/// and shapes them for the protocol revision of the client.
///
/// `toolbond.toml` names the servers, each with its `url`, where the tool list is fetched if a call comes before the list.
/// Which server a request is for is said by the gRPC metadata `toolbond-server` of the filter, else by the name of the
/// route (`request_attributes: [xds.route_name]`), else by the path `/NAME/…`.
///
/// Run as many replicas as you like: they share nothing. On SIGTERM the health check (`grpc.health.v1`) says so, and
/// open requests finish.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExtProc {
    /// The address to listen on for Envoy
    #[arg(long, value_name = "ADDR", value_parser = parse_address, default_value_t = local(9002))]
    listen: SocketAddr,

    #[command(flatten)]
    options: GatewayOptions,
}

impl ExtProc {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let gateway = Gateway { name: "Envoy", front: Front::Gateway, listen: self.listen };
        self.options.run(&gateway, |fleet, listener, end, drain| {
            Service::new(fleet).serve(listener, end, drain)
        })
    }
}
