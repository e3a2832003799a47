//! What `toolbond ext-proc` and `toolbond ext-mcp` share: options, and serving until a signal comes.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use toolbond_guard::config::{self, Config, Front};
use toolbond_guard::{Fleet, MAX_MEMORY, MemoryLimit};
use toolbond_listen::shutdown_signal_then_exit;

use super::guard::{bind, runtime, serve_status};
use crate::address::parse_address;
use crate::exit::Exit;
use crate::log::LogFormat;
use crate::observability::Observability;
use crate::watchdog::start_watchdog;

/// Options of a service for a gateway, beside the address that it listens on.
#[derive(Debug, clap::Args)]
pub(super) struct GatewayOptions {
    /// The servers and their contracts. Changes to the file apply from the next call on
    #[arg(long, value_name = "FILE", default_value = config::FILE)]
    config: PathBuf,

    /// Check the file and exit
    #[arg(long)]
    check_config: bool,

    /// How long new requests are still served after SIGTERM, so that the gateway learns from the health check to send
    /// them elsewhere
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    drain_seconds: u64,

    /// Limit the memory of all messages in flight and the values parsed from them (default: 512 MiB)
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,

    /// Log format
    #[arg(long, value_enum, default_value_t, help_heading = "Observability")]
    log: LogFormat,

    /// Serve a status page (`/`, `/status.json`) and Prometheus metrics (`/metrics`) on this address
    #[arg(long, value_name = "ADDR", value_parser = parse_address, help_heading = "Observability")]
    status: Option<SocketAddr>,
}

/// A gateway, and where a service listens for it.
pub(super) struct Gateway {
    pub(super) name: &'static str,
    pub(super) front: Front,
    pub(super) listen: SocketAddr,
}

/// This port on loopback.
pub(super) const fn local(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

impl GatewayOptions {
    /// Serves the servers of the configuration to `gateway` with `serve`, which takes the servers, a listener, when to
    /// end, and how long to drain.
    pub(super) fn run<S, F, E>(&self, gateway: &Gateway, serve: S) -> anyhow::Result<Exit>
    where
        S: FnOnce(Arc<Fleet>, TcpListener, End, Duration) -> F,
        F: Future<Output = Result<(), E>>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let config = Config::read_for(&self.config, gateway.front)?;
        if self.check_config {
            writeln!(anstream::stdout().lock(), "{}", config.summary(&self.config))?;
            return Ok(Exit::Clean);
        }
        toolbond_guard::compile_metaschemas();
        let observability = Observability::open(self.log);
        let served = self.serve(config, &self.config, gateway, &observability, serve);
        observability.close();
        served
    }

    fn serve<S, F, E>(
        &self,
        config: Config,
        path: &Path,
        gateway: &Gateway,
        observability: &Observability,
        serve: S,
    ) -> anyhow::Result<Exit>
    where
        S: FnOnce(Arc<Fleet>, TcpListener, End, Duration) -> F,
        F: Future<Output = Result<(), E>>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let log = &observability.log;
        let memory = Arc::new(MemoryLimit::new(self.max_memory.unwrap_or(MAX_MEMORY)));
        let status = self.status.or(config.status);
        let (listener, telemetry) = (observability.listener(None), observability.telemetry.clone());
        let fleet = Fleet::new(config, listener, start_watchdog, memory, telemetry)?;
        let fleet = Arc::new(fleet);
        runtime()?.block_on(async {
            serve_status(status, Arc::clone(fleet.status_page()), log)?;
            let (listener, address) = bind(gateway.listen)?;
            log.info(None, format!("listening for {} on {address}", gateway.name));
            let watched = tokio::spawn({
                let (fleet, path) = (Arc::clone(&fleet), path.to_owned());
                async move { fleet.watch_file(path).await }
            });
            let end: End = Box::pin(shutdown_signal_then_exit(true));
            let drain = Duration::from_secs(self.drain_seconds);
            serve(fleet, listener, end, drain).await?;
            watched.abort();
            Ok(Exit::Clean)
        })
    }
}

/// Resolves when the service has to end.
pub(super) type End = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
