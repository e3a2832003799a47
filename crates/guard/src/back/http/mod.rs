//! Requests to servers on HTTP, and their answers.

pub(crate) mod answer;
mod client;
mod server;

pub(crate) use self::client::parse_upstream;
pub use self::client::{Client, UpstreamError};
pub(crate) use self::server::HttpServer;
pub use toolbond_fetch::tls::TrustError;
