//! A contract layer over `rmcp` servers and clients.
//!
//! [`enforce`] puts any [`rmcp::ServerHandler`] behind the contract of its own tools: tools are judged
//! before they are listed, arguments and results are validated under a budget, and every client gets the
//! shape its protocol revision can carry. Everything else passes through.
//!
//! ```
//! use rmcp::ServerHandler;
//!
//! #[derive(Clone)]
//! struct Weather;
//!
//! impl ServerHandler for Weather {}
//!
//! let server = toolpact::enforce(Weather);
//! // Served like any other handler: `server.serve(stdio())`, or `StreamableHttpService::new(…)`.
//! # fn is_handler(_: impl ServerHandler) {}
//! # is_handler(server);
//! ```
//!
//! [`testing`] shows what clients of each revision see of a server, in the same process.

mod enforce;
mod protocol;
mod report;
pub mod testing;

pub use enforce::{Enforced, Options, enforce, enforce_with};
pub use toolpact_contract::{Finding, Mode, Policy, Projection, Revision};
