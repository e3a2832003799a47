//! Fetches the documents that a JSON Schema refers to, because someone asked for it.
//!
//! Nothing else in toolbond ever follows a reference to another document. A [`Fetcher`] does, under a [`Policy`] that
//! allows nothing unless it is named: host names are resolved once, their addresses are checked and used, redirects are
//! checked like any other URL, and everything has a [limit](FetchLimits). There are no cookies, no credentials, and no proxy
//! unless the policy asks for it.
//!
//! ```no_run
//! use serde_json::json;
//! use toolbond_fetch::{Fetcher, Policy};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::default().allow("https://schemas.example.com/")?;
//! let fetcher = Fetcher::new(policy)?;
//! let schema = json!({ "$ref": "https://schemas.example.com/address.json" });
//! let bundled = fetcher.bundle(&schema, None).await?;
//! assert!(bundled["$defs"]["address"].is_object());
//! # Ok(()) }
//! ```

mod address;
mod budget;
mod client;
mod digest;
mod error;
mod fetcher;
mod file;
mod folder;
mod limits;
mod lock;
mod mutex;
mod policy;
mod resolve;
pub mod tls;
mod tools;

pub use client::{Attempt, Observer, Place};
pub use error::{DocumentError, DocumentErrorKind, FetchError, error_chain};
pub use fetcher::{Fetcher, UnbundledTool};
pub use limits::{FetchLimits, UnknownLimit};
pub use lock::{LockError, cache_folder};
pub use policy::{Policy, PolicyError};
pub use resolve::Resolve;
pub use tools::{Bundle, MAX_LIST_BYTES, PendingBundle, ToolBundles, explain, wait_a_little};
