//! `toolbond.toml`: several servers and their options.

mod error;
mod fetch;
mod file;
mod lint;
mod size;
mod terms;

pub use self::error::ConfigError;
pub(crate) use self::file::ServerConfig;
pub use self::file::{Config, FILE, Front};
pub use self::lint::{FailOn, LintConfig};
pub use self::size::parse_bytes;
pub use self::terms::Terms;
