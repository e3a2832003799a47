//! Why a server could not be served.

use std::{fmt, io};

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
    /// What should be an address to listen on is none.
    #[error("expected an address such as 127.0.0.1:8080, found `{found}`")]
    Address {
        /// What it is.
        found: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// The first message of the client breaks the protocol, or was answered with an error.
    #[error("the handshake with the client failed")]
    Handshake(#[source] Box<ServerInitializeError>),
}

impl ServeError {
    /// Why there is no listening on `address`.
    pub(super) fn of(address: &str, source: io::Error) -> Self {
        let address = address.to_owned();
        match source.kind() {
            io::ErrorKind::InvalidInput => Self::Address { found: address },
            _ => Self::Listen { address, source },
        }
    }
}

/// The message and its causes, as a person reads them: this is what a `main` shows that returns the error.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(self))
    }
}
