//! The `toolpact` command, as a user meets it: output and exit code.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod bowtie;
mod check;
mod clients;
mod command;
mod demo;
mod guard;
#[cfg(unix)]
mod guard_bridge;
mod guard_config;
#[cfg(target_os = "linux")]
mod guard_faults;
mod guard_http;
mod guard_many;
mod guard_peers;
#[cfg(unix)]
mod guard_process;
mod guard_tls;
mod judge;
mod pairs;
mod project;
mod published;
mod readme;
#[cfg(target_os = "linux")]
mod upstream;
