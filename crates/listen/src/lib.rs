//! HTTP connections within a limit, and the signals that end a process.
//!
//! [`bind`], [`serve`] and [`accept`] accept connections, [`Signals`] and [`shutdown_signal`] wait for SIGINT and SIGTERM. The crates
//! `toolbond` and `toolbond-guard` share this code; it is not meant for other programs.

mod connections;
mod signals;
mod write_timeout;

pub use connections::{ListenOptions, accept, bind, default_max_connections, serve};
pub use signals::{Signal, Signals, shutdown_signal, shutdown_signal_then_exit};
