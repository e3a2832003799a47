//! The `toolpact` command.

mod address;
mod demo;
mod excerpt;
mod exit;
mod format;
mod input;
mod lint;
mod live;
mod log;
mod report;
mod reshape;
mod shape;
mod terminal;
mod verbs;
mod watchdog;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit::exit_code(verbs::Toolpact::parse().run())
}
