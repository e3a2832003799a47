//! The relay between a client and a server that the tests play both.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod answers_http;
mod answers_upstream;
mod config;
mod contract;
mod faults;
mod fetch;
mod hostile;
mod http;
mod lossless;
mod lossless_http;
mod pair;
#[cfg(unix)]
mod scripts;
mod tasks;
mod text;
mod views;
