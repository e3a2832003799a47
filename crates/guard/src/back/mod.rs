//! The ways to a server: a child process, and HTTP.

pub(crate) mod child;
pub(crate) mod http;
pub(crate) mod remote;
