//! Servers behind the contract of their tools, seen by clients of each revision.

mod calls;
mod client;
mod conformance;
mod http;
mod lists;
mod methods;
mod readme;
mod rounds;
mod server;
mod sessions;
