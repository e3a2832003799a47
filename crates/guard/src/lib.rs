//! The contract of MCP tools in front of any server: a transparent proxy.
//!
//! A guard stands between clients and a server. It holds tools, arguments and results to the schemas
//! of the server, and gives each client the shape that its protocol revision can carry. All other
//! messages pass byte for byte.
//!
//! - A [`GuardedServer`] has the [`Settings`], the [`Listener`] of
//!   one server.
//! - [`stdio`] is for a client and a server on standard input and output.
//! - [`Proxy`] is for clients and a server on Streamable HTTP, [`Processes`] for clients on HTTP and a
//!   server that is a process. A [`Router`] serves them at one address.
//! - [`config`] reads `toolbond.toml`, and a [`Fleet`] serves the servers in it.
//! - [`live`] asks a running server for its tools.

mod back;
mod clock;
pub mod config;
mod environment;
mod fleet;
mod front;
#[doc(hidden)]
pub mod gateway;
mod http;
pub mod live;
mod log_export;
mod memory;
mod metaschemas;
mod parallel;
mod pipe;
mod random;
mod results_file;
mod router;
mod runtime;
mod server;
mod status;
mod status_page;
#[cfg(test)]
mod testing;
mod url;

#[cfg(unix)]
pub use back::child::watch;
pub use back::child::{Child, Launch, Orphans, StartError, Watchdog};
pub use back::http::{Client, TrustError, UpstreamError};
pub use clock::utc;
pub use fleet::{Fleet, FleetError};
pub use front::http::Hosts;
pub use front::process::{ProcessLimits, Processes};
pub use front::proxy::Proxy;
pub use front::stdio;
pub use log_export::LogExport;
pub use memory::{MAX_MEMORY, MemoryLimit};
pub use metaschemas::compile_metaschemas;
pub use results_file::{Forgotten, ResultsFile, ResultsFileError, ResultsPlace, ServerDigest};
pub use router::{Backend, Router, Routes};
pub use server::GuardedServer;
pub use status_page::StatusPage;
pub use toolbond_guard_core::event::{Event, Listener};
pub use toolbond_guard_core::settings::{Deployment, Override, Settings, ShowValues, Translations};
pub use toolbond_telemetry::Telemetry;
