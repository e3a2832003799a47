//! Why a server could not be served.

use std::{io, net::SocketAddr};

use rmcp::service::ServerInitializeError;

/// Why a server could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The command line says something else.
    #[error("expected no arguments or `--http ADDR`, found `{found}`")]
    Usage {
        /// The word that was not expected.
        found: String,
    },
    /// What stands after `--http` is no address.
    #[error("expected an address such as 127.0.0.1:8080, found `{found}`")]
    Address {
        /// What stands there.
        found: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The first message of the client breaks the protocol.
    #[error("the client broke the protocol in its first message")]
    Handshake(#[source] Box<ServerInitializeError>),
}
