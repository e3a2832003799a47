//! Fetching all tools of a live server.

mod call;
mod http;
mod list;
mod server;
mod stdio;
mod watch;

pub use self::call::Calls;
pub use self::http::tools as http_tools;
pub use self::list::{Listed, Opening};
pub use self::server::{CallError, ToolsError};
pub use self::stdio::tools as stdio_tools;
pub(crate) use self::watch::watch;
