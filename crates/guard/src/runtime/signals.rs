//! The signals that end a guard.

#[cfg(not(unix))]
use std::io;

/// A signal that was caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caught {
    /// Ctrl-C.
    Interrupt,
    /// The polite end.
    Terminate,
    /// The terminal is gone.
    #[cfg(unix)]
    HangUp,
}

#[cfg(unix)]
mod unix {
    use std::io;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::Caught;

    /// The signals of the system.
    pub(crate) struct Signals {
        interrupt: Signal,
        terminate: Signal,
        hang_up: Signal,
    }

    impl Signals {
        pub(crate) fn listen() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
            })
        }

        /// The next one.
        pub(crate) async fn next(&mut self) -> Caught {
            tokio::select! {
                _ = self.interrupt.recv() => Caught::Interrupt,
                _ = self.terminate.recv() => Caught::Terminate,
                _ = self.hang_up.recv() => Caught::HangUp,
            }
        }
    }
}

impl Caught {
    /// Its number.
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Interrupt => 2,
            Self::Terminate => 15,
            #[cfg(unix)]
            Self::HangUp => 1,
        }
    }

    /// The exit code of a process that ends because of it: 128 and its number.
    pub(crate) fn exit_code(self) -> u8 {
        128 + u8::try_from(self.number()).unwrap_or_default()
    }
}

#[cfg(unix)]
pub(crate) use unix::Signals;

/// The signals of the system.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Caught {
        // Without Ctrl-C there is nothing to wait for but the end of the streams.
        match tokio::signal::ctrl_c().await {
            Ok(()) => Caught::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}
