//! The `toolbond` command.

mod address;
mod bundler;
mod configs;
mod confirm;
mod diff;
mod doctor;
mod excerpt;
mod exit;
mod format;
mod guards;
mod header;
mod input;
mod launcher;
mod layout;
mod lint;
mod live;
mod log;
mod observability;
mod patch;
mod probe;
mod progress;
mod replace;
mod report;
mod reshape;
mod secrets;
mod server_name;
mod shape;
mod terminal;
mod verbs;
mod watchdog;
mod words;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit::exit_code(verbs::Toolbond::from_command_line().run())
}
