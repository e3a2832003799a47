//! Servers on Streamable HTTP: a reverse proxy.

mod answer;
mod events;
mod origin;
mod proxy;
mod question;
mod serve;
mod visit;

pub use origin::Hosts;
pub use proxy::{Proxy, UpstreamError};
pub use serve::serve;
