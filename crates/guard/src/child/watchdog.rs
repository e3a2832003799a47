//! What ends a server whose guard was ended without a chance to do so.

use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// A process that waits for this one to be gone, and then ends a process group.
///
/// Whatever ends a guard, the kernel closes its pipes: the watchdog reads from one. A guard that ends
/// in good order says so first.
#[derive(Debug)]
pub struct Watchdog {
    child: Child,
}

impl Watchdog {
    /// Starts `command`, which has to call [`watch`] with the group that it is to end.
    ///
    /// Fails where the command cannot be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What is sent to the group of the guard, as Ctrl-C is, is not for the watchdog.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { child: command.spawn()? })
    }
}

/// In good order: there is nothing left to end.
impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            let _ = stdin.write_all(b"done");
        }
        let _ = self.child.wait();
    }
}

/// Waits for standard input to end, and then ends the process group `group`, unless told that
/// there is nothing left to end.
///
/// Fails where standard input cannot be read.
#[cfg(unix)]
pub fn watch(group: i32) -> io::Result<()> {
    let mut said = Vec::new();
    io::stdin().lock().take(16).read_to_end(&mut said)?;
    // Groups 0 and 1 are this one's own and that of the system.
    if said.is_empty() && group > 1 {
        let group = nix::unistd::Pid::from_raw(group);
        nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL)?;
    }
    Ok(())
}
