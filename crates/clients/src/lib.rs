//! The configurations of MCP clients, and the guard in front of the servers in them.
//!
//! A [`Client`] is a row of data: where its files are, and how they name servers. A [`Document`] is the text of such a
//! file with the place of everything in it. [`wrap`] puts a guard in front of the command of servers and [`unwrap`]
//! takes it away again; both are edits of the text that leave the rest byte for byte. A [`Record`] keeps what a file
//! was before.
//!
//! ```
//! use toolbond_clients::{CLIENTS, Document, Wrapper, unwrap, wrap};
//!
//! let client = toolbond_clients::client("cursor")?;
//! let text = r#"{ "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }"#;
//! let document = Document::parse(text, client.syntax)?;
//! let servers = document.servers(client);
//! let wrapped = wrap(&document, &servers, &Wrapper::program("/bin/toolbond"))?;
//! assert_eq!(
//!     wrapped,
//!     r#"{ "mcpServers": { "time": { "command": "/bin/toolbond", "args": ["guard", "--", "uvx", "mcp-server-time"] } } }"#
//! );
//! let document = Document::parse(&wrapped, client.syntax)?;
//! assert_eq!(unwrap(&document, &document.servers(client), None)?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod behind;
mod client;
mod edit;
mod paths;
mod record;
mod remote;
mod server;
mod texts;
mod tree;
mod unwrap;
mod wrap;
mod wrapper;

pub use behind::{Behind, GUARD_FLAGS, GUARD_OPTIONS};
pub use client::{CLIENTS, Client, ConfigPaths, UnknownName, Variables, client, client_of_file};
pub use edit::EditError;
pub use paths::{Folders, Os};
pub use record::{Lock, Record, RecordError, keep_copy};
pub use server::{Server, Start};
pub use texts::NamedText;
pub use tree::{Document, ParseError, Syntax};
pub use unwrap::{can_unwrap, unwrap};
pub use wrap::{repoint, wrap};
pub use wrapper::{Via, Wrapper};
