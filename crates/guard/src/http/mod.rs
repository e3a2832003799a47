//! Clients on Streamable HTTP: a reverse proxy to servers on HTTP, and a bridge to those that are
//! processes.

mod answer;
mod bridge;
mod client;
mod events;
mod front;
mod listen;
mod origin;
mod posted;
mod proxy;
mod question;
mod room;
mod tools;
mod visit;

pub use bridge::{Bounds, Bridge, Launch};
pub use client::{Client, TrustError};
pub use front::{Backend, Front, Routes};
pub(crate) use listen::listen;
pub use listen::{bind, told_to_end};
pub use origin::Hosts;
pub(crate) use proxy::{Body, full, plain, upstream};
pub use proxy::{Proxy, UpstreamError};
pub use tools::Asker;
