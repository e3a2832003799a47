//! Why a server could not be served.

use std::{fmt, io, net::SocketAddr};

use rmcp::service::ServerInitializeError;

use crate::report::chain;

/// Why a server could not be served.
#[derive(thiserror::Error)]
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
    /// The first message of the client breaks the protocol, or was answered with an error.
    #[error("the handshake with the client failed")]
    Handshake(#[source] Box<ServerInitializeError>),
}

/// The message and its causes, as a person reads them: this is what a `main` shows that returns the error.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(self))
    }
}
