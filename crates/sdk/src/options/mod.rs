//! Options of servers and clients.

mod checks;
#[cfg(feature = "client")]
mod client;
mod server;

#[cfg(feature = "client")]
pub(crate) use checks::Checks;
#[cfg(feature = "client")]
pub use client::ClientOptions;
pub use server::ServerOptions;
