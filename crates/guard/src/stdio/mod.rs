//! Servers that are child processes: one message a line, over standard input and output.

mod child;
mod fetch;
mod from_client;
mod from_server;
mod line;
mod open;
mod relay;
mod session;
pub(crate) mod signals;
mod skim;
mod standard;
mod tools;
mod watchdog;

pub use child::{ServeError, Server};
pub(crate) use relay::relay_until;
pub use relay::{End, relay};
pub use standard::{Input, Output, standard};
pub use tools::tools;
pub use watchdog::Watchdog;
#[cfg(unix)]
pub use watchdog::watch;
