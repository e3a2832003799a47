//! Pipes: one message a line.

pub(crate) mod line;
pub(crate) mod outbox;
