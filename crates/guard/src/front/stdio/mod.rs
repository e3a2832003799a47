//! A client on standard input and output, in front of a server that is a child process.

mod relay;
mod standard;

pub use self::relay::{End, relay, serve};
pub use self::standard::{Input, Output, standard};
