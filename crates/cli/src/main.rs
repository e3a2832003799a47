//! The toolpact command.

fn main() {}
