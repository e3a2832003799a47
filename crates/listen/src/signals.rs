//! Signals that end a process.

use std::{future::pending, io};

/// A signal that asks the process to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// SIGINT, or Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

impl Signal {
    /// The number of the signal on Unix.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }

    /// The exit code of a process that this signal ended: 128 plus its number.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        128 + self.number()
    }
}

/// The signals that the process receives instead of ending.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    /// Registers for SIGINT and SIGTERM, and for SIGHUP if `hang_up` is set. On Windows, registers for Ctrl-C only.
    ///
    /// # Errors
    ///
    /// Fails if the system does not allow it.
    #[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "fails on Unix"))]
    pub fn register(hang_up: bool) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: hang_up.then(|| signal(SignalKind::hangup())).transpose()?,
            })
        }
        #[cfg(not(unix))]
        {
            _ = hang_up;
            Ok(Self {})
        }
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
        #[cfg(unix)]
        {
            let hang_up = async {
                match &mut self.hang_up {
                    Some(signal) => signal.recv().await,
                    None => pending().await,
                }
            };
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = hang_up => Signal::HangUp,
            }
        }
        #[cfg(not(unix))]
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => pending().await,
        }
    }
}

/// Waits for SIGINT or SIGTERM (Ctrl-C on Windows). Never returns if the process cannot receive them.
pub async fn shutdown_signal() {
    match Signals::register(false) {
        Ok(mut signals) => drop(signals.next().await),
        Err(_) => pending().await,
    }
}

/// Like [`shutdown_signal`], and ends the process at once on the next signal. SIGHUP also counts, unless the program
/// `reloads` its configuration on it. Calls `tell` on the first one.
pub async fn shutdown_signal_then_exit(reloads: bool, tell: impl FnOnce(Signal)) {
    let Ok(mut signals) = Signals::register(true) else { return pending().await };
    let caught = loop {
        match signals.next().await {
            Signal::HangUp if reloads => {}
            caught => break caught,
        }
    };
    tell(caught);
    tokio::spawn(async move {
        let signal = signals.next().await;
        #[expect(clippy::exit, reason = "the second signal asks for it")]
        std::process::exit(signal.exit_code().into());
    });
}
