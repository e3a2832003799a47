//! The contract of MCP tools in front of any server: a transparent proxy.
//!
//! A guard stands between a client and a server and forwards the bytes it does not need to change. It
//! looks at `initialize`, `tools/list`, `tools/call` and the notification that tools changed; everything
//! else, known or not, passes untouched, unknown members included.
//!
//! - [`Settings`] say what it does, and [`Inspector`] does it: lists, arguments and results are held to
//!   the contracts of the server's tools, and shaped for the revision that the client speaks.
//! - A [`Ward`] is a server under guard: its settings may change while it is, and what happens is
//!   counted in its [`Status`](status::Status).
//! - [`stdio`] relays a server that is a child process.
//! - [`http`] stands before a server on Streamable HTTP.
//! - [`config`] reads `toolpact.toml`, and a [`Fleet`] is the servers in it.
//! - What it has to say goes to a [`Listener`].

mod asked;
mod catalog;
pub mod config;
mod event;
mod fetch;
mod fleet;
pub mod http;
mod id;
mod inspector;
mod judged;
mod list;
mod live;
mod message;
mod outline;
mod patch;
mod settings;
mod shape;
pub mod status;
pub mod stdio;
mod tasks;
mod unique;
mod ward;
mod workers;

pub use event::{Event, Listener};
pub use fleet::{Fleet, FleetError};
pub use id::Id;
pub use inspector::Inspector;
pub use live::ToolsError;
pub use settings::{MAX_MESSAGE, Override, Settings};
pub use ward::Ward;
