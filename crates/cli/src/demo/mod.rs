//! The demo: a server, and what clients see of it.

mod server;
mod tour;

pub(crate) use server::Server;
pub(crate) use tour::tour;
