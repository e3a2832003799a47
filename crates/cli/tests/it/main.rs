//! The `toolpact` command, as a user meets it: output and exit code.

mod bowtie;
mod check;
mod command;
mod demo;
