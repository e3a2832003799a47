//! A process that ends a server if this process is killed.

use std::process::Command;

use toolbond_guard::Watchdog;

/// Starts a watchdog for the process group `group`. Without one, a server may survive if this process is killed.
pub(crate) fn start_watchdog(group: u32) -> Option<Watchdog> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["guard", "--watch", &group.to_string()]);
    if cfg!(unix) { Watchdog::start(command).ok() } else { None }
}
