//! A conversation between clients and one server, without I/O.
//!
//! Messages, finished jobs and time go in; [`Action`]s come out of [`Conversation::poll`]. Nothing in
//! here opens a socket, starts a task or reads a clock, so that every transport makes the same
//! decisions, and tests need none.

mod action;
mod bridge;
#[cfg(test)]
mod bridge_tests;
#[cfg(test)]
mod broken_tests;
mod call;
#[cfg(test)]
mod decision_tests;
mod fetcher;
mod from_client;
mod from_server;
mod handshake;
mod held;
mod job;
mod link;
mod lists;
mod pending;
mod release;
mod running;
mod skipped;
mod span;
mod state;
#[cfg(test)]
mod tests;
mod waiting_call;

pub use self::action::{Action, AskId, Destination, StreamId, Ticket};
pub use self::fetcher::{Endless, LIST_PATIENCE, MADE_ROOM, MAX_PAGES, Pages};
pub use self::from_client::Told;
pub use self::job::{Job, JobId, JobOutcome};
pub use self::link::{Link, Origin};
pub use self::state::Conversation;
