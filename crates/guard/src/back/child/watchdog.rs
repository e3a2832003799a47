//! A process that kills a server if its guard was killed.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// A process that waits for this one to end, and then kills a process group.
///
/// However a guard ends, the kernel closes its pipes, and the watchdog reads from one. A guard that ends
/// normally tells the watchdog first that there is nothing to kill.
#[derive(Debug)]
pub struct Watchdog {
    child: Child,
}

impl Watchdog {
    /// Starts `command`, which must call [`watch`] with the process group to kill.
    ///
    /// Fails if the command cannot be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals to the group of the guard, such as Ctrl-C, must not reach the watchdog.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { child: command.spawn()? })
    }
}

/// Tells the watchdog that there is nothing to kill.
impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            let _ = stdin.write_all(b"done");
        }
        let _ = self.child.wait();
    }
}

/// Waits for standard input to end, then kills the process group `group`, unless the guard said that there
/// is nothing to kill.
///
/// Fails if standard input cannot be read.
#[cfg(unix)]
pub fn watch(group: i32) -> io::Result<()> {
    let mut said = Vec::new();
    io::stdin().lock().take(16).read_to_end(&mut said)?;
    // Groups 0 and 1 are this one's own and that of the system.
    if !said.is_empty() || group <= 1 {
        return Ok(());
    }
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?;
    }
    Ok(())
}
