//! Where clients come from: standard input and output, and HTTP.

pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod proxy;
pub mod stdio;
