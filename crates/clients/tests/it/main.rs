//! Wrapping and unwrapping, on texts as people and clients write them.

mod cases;
mod generated;
mod layout;
mod records;
