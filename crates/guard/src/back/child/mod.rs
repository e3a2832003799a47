//! A server as a child process that never outlives its guard.

mod group;
mod launch;
mod orphans;
mod process;
mod stderr;
mod watchdog;

pub use self::launch::Launch;
pub use self::orphans::Orphans;
pub(crate) use self::process::SAYS;
pub use self::process::{Child, StartError};
pub use self::watchdog::Watchdog;
#[cfg(unix)]
pub use self::watchdog::watch;
