//! Connections to servers on Streamable HTTP, for clients that are of another era or on a pipe.

mod connection;
pub(crate) mod headers;
mod on_pipe;
pub(crate) mod refusal;

mod request;
mod server;
mod session;
mod tools;

pub(crate) use self::request::ToServer;
pub(crate) use self::server::Remote;
pub(crate) use self::session::RemoteSession;
