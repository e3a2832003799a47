//! Fetching all tools of a live server.

mod call;
mod http;
mod list;
mod stdio;
mod watch;

pub use self::call::{CallError, Calls};
pub use self::http::tools as http_tools;
pub use self::list::{Listed, Opening, ToolsError};
pub use self::stdio::tools as stdio_tools;
pub(crate) use self::watch::watch;
