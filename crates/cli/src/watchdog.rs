//! What ends a server when this process is killed.

use std::process::Command;

use toolpact_guard::Watchdog;

/// A watchdog over the process group `group`; without one, a process that is killed may leave its
/// server behind.
pub(crate) fn watchdog(group: u32) -> Option<Watchdog> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["guard", "--watch", &group.to_string()]);
    if cfg!(unix) { Watchdog::start(command).ok() } else { None }
}
