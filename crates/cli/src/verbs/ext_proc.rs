//! `toolbond ext-proc`: the contract as a service for Envoy.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolbond_gateway::ExtProc as Service;
use toolbond_guard::config::{self, Config, Front};
use toolbond_guard::{Fleet, MAX_MEMORY, MemoryLimit};
use toolbond_listen::shutdown_signal_then_exit;

use super::guard::{bind, runtime, serve_status};
use crate::address::parse_address;
use crate::exit::Exit;
use crate::log::LogOptions;
use crate::observability::Observability;
use crate::watchdog::start_watchdog;

const EXAMPLES: &str = "\
Examples:
  toolbond ext-proc --config toolbond.toml --listen 127.0.0.1:9002
  toolbond ext-proc --config toolbond.toml --check-config";

/// The address to listen on by default.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9002);

/// Run the checks of the guard inside Envoy.
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
    #[arg(long, value_name = "ADDR", value_parser = parse_address, default_value_t = LISTEN)]
    listen: SocketAddr,

    /// The servers and their contracts. Changes to the file apply from the next call on
    #[arg(long, value_name = "FILE", default_value = config::FILE)]
    config: PathBuf,

    /// Check the file and exit
    #[arg(long)]
    check_config: bool,

    /// How long new requests are still served after SIGTERM, so that Envoy learns from the health check to send them
    /// elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    drain_seconds: u64,

    /// Limit the memory of all messages in flight and the values parsed from them (default: 512 MiB)
    #[arg(long, value_name = "BYTES", value_parser = config::parse_bytes)]
    max_memory: Option<usize>,

    /// Limit the HTTP requests that are open at the same time (default: 16384), for tests
    #[arg(long, value_name = "NUMBER", hide = true)]
    max_requests: Option<usize>,

    #[command(flatten)]
    log: LogOptions,

    /// Serve a status page (`/`, `/status.json`) and Prometheus metrics (`/metrics`) on this address
    #[arg(long, value_name = "ADDR", value_parser = parse_address, help_heading = "Observability")]
    status: Option<SocketAddr>,
}

impl ExtProc {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        let config = Config::read_for(&self.config, Front::Gateway)?;
        if self.check_config {
            writeln!(anstream::stdout().lock(), "{}", config.summary(&self.config))?;
            return Ok(Exit::Clean);
        }
        toolbond_guard::compile_metaschemas();
        let observability = Observability::open(&self.log)?;
        let served = self.serve(config, &observability);
        observability.close();
        served
    }

    fn serve(self, config: Config, observability: &Observability) -> anyhow::Result<Exit> {
        let log = &observability.log;
        let memory = Arc::new(MemoryLimit::new(self.max_memory.unwrap_or(MAX_MEMORY)));
        let status = self.status.or(config.status);
        let (listener, telemetry) = (observability.listener(None), observability.telemetry.clone());
        let fleet = Fleet::new(config, listener, start_watchdog, memory, telemetry)?;
        let fleet = Arc::new(fleet);
        runtime()?.block_on(async {
            serve_status(status, Arc::clone(fleet.status_page()), log)?;
            let (listener, address) = bind(self.listen)?;
            log.info(None, format!("listening for Envoy on {address}"));
            let watched = tokio::spawn({
                let fleet = Arc::clone(&fleet);
                async move { fleet.watch_file(self.config).await }
            });
            let end = Box::pin(shutdown_signal_then_exit(true, |_| ()));
            let drain = Duration::from_secs(self.drain_seconds);
            let mut service = Service::new(fleet);
            if let Some(max) = self.max_requests {
                service = service.max_requests(max);
            }
            service.serve(listener, end, drain).await;
            watched.abort();
            Ok(Exit::Clean)
        })
    }
}
