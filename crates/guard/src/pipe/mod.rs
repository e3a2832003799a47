//! Pipes: one message a line.

pub(crate) mod breaks;
pub(crate) mod line;
pub(crate) mod outbox;
pub(crate) mod pieces;

use std::pin::pin;
use std::task::Context;

use tokio::task::yield_now;

/// The bytes that one poll moves before others have their turn.
const AT_ONCE: usize = 1 << 20;

/// Has the task polled again, after others and what has become ready meanwhile.
fn give_way(context: &mut Context<'_>) {
    let _ = pin!(yield_now()).poll(context);
}
