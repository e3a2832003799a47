//! The demo: a server and what clients see of it.

mod server;
mod tour;

pub(crate) use server::DemoServer;
pub(crate) use tour::write_tour;
