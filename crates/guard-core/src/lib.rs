//! The decisions of the Toolbond guard about MCP messages, without I/O.
//!
//! Messages, finished jobs and time go into a [`conversation::Conversation`], and actions come out. What it needs beside
//! that, such as random numbers, is an [`environment::Environment`]. The crate opens no socket, starts no thread and
//! reads no clock, and depends on nothing that does; `clippy.toml` refuses it.
//!
//! It is made for the crate `toolbond-guard`, and may change with it at any time.

#![expect(
    missing_docs,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "only the guard uses it; what a name does not say has a comment"
)]

pub mod audience;
pub mod caller;
pub mod contract;
pub mod conversation;
pub mod counted;
pub mod environment;
pub mod era;
pub mod event;
pub mod hop_by_hop;
pub mod json;
pub mod known_eras;
pub mod learned;
pub mod lock;
pub mod message;
pub mod server;
pub mod settings;
#[cfg(test)]
mod testing;
pub mod tool_cache;
pub mod trace;
mod validating_clients;
mod weight;
