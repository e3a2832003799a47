//! Servers on Streamable HTTP: a reverse proxy.

mod answer;
mod client;
mod events;
mod front;
mod origin;
mod proxy;
mod question;
mod serve;
mod tools;
mod visit;

pub use client::{Client, TrustError};
pub use front::{Backend, Front, Routes};
pub use origin::Hosts;
pub use proxy::{Proxy, UpstreamError};
pub use serve::serve;
pub use tools::Asker;
