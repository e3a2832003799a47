//! Wrapping and unwrapping, on texts as people and clients write them.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod cases;
mod generated;
mod layout;
mod records;
