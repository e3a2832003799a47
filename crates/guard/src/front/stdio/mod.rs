//! A client on standard input and output, in front of a server that is a child process or on Streamable HTTP.

mod relay;
mod remote;
mod standard;

pub use self::relay::{End, relay, serve};
pub use self::remote::Upstream;
pub use self::standard::{Input, Output, standard};
