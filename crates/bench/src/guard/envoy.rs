//! Envoy in front of a server: plain, or with the filter that lets `toolbond ext-proc` check messages.
//!
//! It gets what it needs to be fast: connections to the server that are kept, no access log, nothing
//! written to disk.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::peers::{Installed, Process, free_port};

/// How Envoy is configured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envoy<'a> {
    /// The port of the server.
    pub(crate) to: u16,
    pub(crate) workers: u16,
    /// The ports of the processes of `toolbond ext-proc`, which take turns; none for plain Envoy.
    pub(crate) replicas: &'a [u16],
    /// The routes: the name of each, which names the server to `toolbond ext-proc`, and the beginning of its paths.
    pub(crate) routes: &'a [(String, String)],
}

impl Installed {
    /// Envoy in front of the server on the port `to`.
    pub(crate) fn envoy(&self, to: u16) -> anyhow::Result<Process> {
        let routes = [("bench".to_owned(), "/".to_owned())];
        self.start_envoy(Envoy { to, workers: 1, replicas: &[], routes: &routes })
    }

    /// Envoy as `envoy` says.
    pub(crate) fn start_envoy(&self, envoy: Envoy<'_>) -> anyhow::Result<Process> {
        let place = self.python("tools", "envoy")?;
        let port = free_port()?;
        let file = self.folder("envoy")?.join(format!("{port}.json"));
        fs::write(&file, envoy.config(port).to_string())?;
        let mut command = Command::new(place.join("envoy/_bin/envoy"));
        command.arg("-c").arg(&file).args(["--concurrency", &envoy.workers.to_string()]);
        command.args(["--disable-hot-restart", "--log-level", "off"]);
        Process::start(command, port)
    }
}

impl Envoy<'_> {
    /// The configuration of Envoy that listens on `port`.
    fn config(self, port: u16) -> Value {
        let routes: Vec<_> = self
            .routes
            .iter()
            .map(|(name, prefix)| {
                let action = json!({ "cluster": "bench" });
                json!({ "name": name, "match": { "prefix": prefix }, "route": action })
            })
            .collect();
        let last = json!({
            "name": "envoy.filters.http.router",
            "typed_config": { "@type": extension("filters.http.router.v3.Router") },
        });
        let filters = if self.replicas.is_empty() { vec![last] } else { vec![processor(), last] };
        let manager = json!({
            "@type": extension("filters.network.http_connection_manager.v3.HttpConnectionManager"),
            "stat_prefix": "bench",
            "codec_type": "HTTP1",
            "generate_request_id": false,
            "route_config": { "virtual_hosts": [{ "name": "bench", "domains": ["*"], "routes": routes }] },
            "http_filters": filters,
        });
        let filter = json!({
            "name": "envoy.filters.network.http_connection_manager", "typed_config": manager,
        });
        let mut clusters = vec![cluster("bench", &[self.to])];
        if !self.replicas.is_empty() {
            let mut replicas = cluster("toolbond", self.replicas);
            let protocol = "upstreams.http.v3.HttpProtocolOptions";
            replicas["typed_extension_protocol_options"] = json!({
                format!("envoy.extensions.{protocol}"): {
                    "@type": extension(protocol),
                    "explicit_http_config": { "http2_protocol_options": {} },
                },
            });
            clusters.push(replicas);
        }
        json!({ "static_resources": {
            "listeners": [{ "address": address(port), "filter_chains": [{ "filters": [filter] }] }],
            "clusters": clusters,
        }})
    }
}

/// The filter in the mode that we recommend.
fn processor() -> Value {
    json!({
        "name": "envoy.filters.http.ext_proc",
        "typed_config": {
            "@type": extension("filters.http.ext_proc.v3.ExternalProcessor"),
            "grpc_service": { "envoy_grpc": { "cluster_name": "toolbond" } },
            "processing_mode": {
                "request_header_mode": "SEND",
                "response_header_mode": "SEND",
                "request_body_mode": "FULL_DUPLEX_STREAMED",
                "response_body_mode": "FULL_DUPLEX_STREAMED",
                "request_trailer_mode": "SEND",
                "response_trailer_mode": "SEND",
            },
            "allow_mode_override": true,
            "message_timeout": "10s",
            "request_attributes": ["xds.route_name"],
            "failure_mode_allow": false,
        },
    })
}

fn cluster(name: &str, ports: &[u16]) -> Value {
    let endpoints: Vec<_> =
        ports.iter().map(|port| json!({ "endpoint": { "address": address(*port) } })).collect();
    json!({
        "name": name,
        "type": "STATIC",
        "connect_timeout": "5s",
        "lb_policy": "ROUND_ROBIN",
        "load_assignment": { "cluster_name": name, "endpoints": [{ "lb_endpoints": endpoints }] },
    })
}

fn address(port: u16) -> Value {
    json!({ "socket_address": { "address": "127.0.0.1", "port_value": port } })
}

fn extension(name: &str) -> String {
    format!("type.googleapis.com/envoy.extensions.{name}")
}
