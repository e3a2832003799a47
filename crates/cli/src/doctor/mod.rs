//! `toolbond doctor`: a checkup of each server, and how it is reported.

mod advice;
mod checkup;
mod consent;
mod effects;
mod report;
mod start;
mod variables;

pub(crate) use checkup::State;
pub(crate) use consent::lines;
pub(crate) use report::{write_json, write_text};
pub(crate) use start::check;
