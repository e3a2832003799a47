//! The layer over `rmcp`, over pipes, processes and sockets.

mod calls;
mod client;
mod conformance;
mod corners;
mod fetch;
mod hostile;
mod http;
mod lists;
mod methods;
mod panics;
mod process;
mod readme;
mod rounds;
mod server;
mod servers;
mod sessions;
mod views;
