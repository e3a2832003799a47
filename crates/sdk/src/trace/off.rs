//! What is done for spans without the feature `otel`: nothing.

use toolbond_contract::{Finding, Outcome, Side};

/// The time that a check takes.
#[derive(Clone, Copy)]
pub(crate) struct Timer;

impl Timer {
    pub(crate) const fn start() -> Self {
        Self
    }
}

pub(crate) const fn add_check(_: Side, _: Outcome, _: u64, _: Timer) {}

pub(crate) const fn add_findings(_: &[Finding]) {}

pub(crate) const fn set_tool(_: &str, _: bool) {}

pub(crate) const fn set_refused() {}

pub(crate) const fn set_withheld() {}
