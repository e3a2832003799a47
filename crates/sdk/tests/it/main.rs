//! The layer over `rmcp`, over pipes, processes and sockets.

mod asking;
mod calls;
mod client;
mod conformance;
mod corners;
mod crates;
mod fetch;
mod hostile;
mod http;
mod lists;
mod methods;
#[cfg(feature = "otel")]
mod otel;
mod panics;
mod process;
mod reading;
mod readme;
mod rounds;
mod server;
mod servers;
mod sessions;
mod views;
mod written;
