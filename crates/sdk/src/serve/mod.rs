//! Serving over standard input and output or over HTTP.

#[cfg(feature = "cli")]
mod cli;
mod error;
mod http;
#[cfg(feature = "cli")]
mod log;
mod sessions;
mod stdio;

#[cfg(feature = "cli")]
pub use cli::{serve_cli, serve_cli_with};
pub use error::ServeError;
pub use http::Http;
pub use stdio::{serve_stdio, serve_stdio_with};
