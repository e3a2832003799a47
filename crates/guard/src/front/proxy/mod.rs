//! Clients on Streamable HTTP in front of a server on Streamable HTTP.

mod asking;
mod bridge;
mod endpoint;
mod event_stream;
mod list;
mod next;
mod param_headers;
mod redirect;
mod request;
mod response;
mod reverse_proxy;
mod session;
mod watch;

pub(crate) use self::endpoint::ClientPath;
pub use self::next::{Next, Repeatable, ResponseBody};
pub use self::reverse_proxy::Proxy;
