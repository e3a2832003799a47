//! Clients and servers of different eras.
//!
//! From revision 2026-07-28 on (*modern*) each request says what its client can do, and a server that
//! needs input asks for it in a result. Before (*legacy*) both sides shake hands first, and servers send
//! requests. A [`Bridge`] stands between a conversation and its server. Where both are of one era, it
//! forwards every message as it is; where they are not, it translates. It does no I/O: messages and
//! time go in, [`Output`]s come out.

mod bridge;
mod capability;
mod detect;
mod io;
mod legacy_client;
mod listen;
mod message;
mod modern_client;
mod subscriptions;
#[cfg(test)]
mod tests;

pub use self::bridge::Bridge;
pub use self::capability::Asks;
pub use self::detect::{discover_request, initialize_request, is_initialize};
pub use self::io::{Defaults, Output, Translated, Users};
pub use self::legacy_client::may_need_input;
pub(crate) use self::message::cancelled;
pub use self::message::{HTTP_REFUSAL, Incoming, MODERN, is_modern_error, is_modern_request, meta};
pub use self::modern_client::pipe_of_state;
