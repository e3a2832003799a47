//! One of everything a test needs: processes, HTTP, files, waiting, suites, corpora, and the peer to compare with.
//!
//! Nothing here is part of Toolbond: what is here only holds it to account.

#![expect(
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::unwrap_used,
    reason = "a test ends where it cannot go on"
)]

pub mod address;
pub mod conformance;
pub mod corpus;
pub mod embedded;
pub mod envoy;
pub mod files;
pub mod generate;
pub mod guard;
pub mod hostile;
pub mod http;
pub mod mcp;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod peers;
pub mod plain;
pub mod proc;
pub mod process;
mod skip;
pub mod suite;
#[cfg(feature = "tls")]
pub mod tls;
pub mod transcript;
pub mod trials;
pub mod upstream;
pub mod wait;

pub use skip::{missing, skip};
