//! The contract of MCP tools inside Envoy: a service that its filter `ext_proc` sends requests and responses to.
//!
//! [`ExtProc`] serves the servers of a [`Fleet`](toolbond_guard::Fleet), which are on HTTP. The checks are those of
//! `toolbond-guard`; this crate moves heads and bodies between Envoy and them.

mod body;
mod exchange;
mod ext_proc;
mod grpc;
mod handover;
mod headers;
mod mode;
mod reply;
mod route;
mod wire;
#[cfg(test)]
mod wire_tests;

pub use ext_proc::ExtProc;
