//! Putting a server behind the contract of its own tools.

mod cache;
mod call;
mod enforced;
mod handler;
mod list;
mod malformed;
mod restore;
mod send;
mod tool;

pub use enforced::{Enforced, enforce, enforce_with};
