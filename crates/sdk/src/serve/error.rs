//! Errors of serving.

use std::{fmt, io};

use rmcp::service::ServerInitializeError;

use crate::report::error_chain;

/// Why a server cannot be served.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The command line has an unknown argument.
    #[error("expected no arguments or `--http ADDR`, found `{found}`")]
    Usage {
        /// The unknown argument.
        found: String,
    },
    /// The text is not a socket address.
    #[error("expected an address such as 127.0.0.1:8080, found `{found}`")]
    Address {
        /// The text.
        found: String,
    },
    /// The address is not available.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The first message of the client breaks the protocol, or the server answered it with an error.
    #[error("the handshake with the client failed")]
    Handshake(#[source] Box<ServerInitializeError>),
}

impl ServeError {
    /// The error of binding `address`.
    pub(super) fn from_bind(address: &str, source: io::Error) -> Self {
        let address = address.to_owned();
        match source.kind() {
            io::ErrorKind::InvalidInput => Self::Address { found: address },
            _ => Self::Listen { address, source },
        }
    }
}

/// Writes the message and its causes, because a `main` that returns this error prints it with `Debug`.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_chain(self))
    }
}
