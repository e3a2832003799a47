//! What the targets crate is held to. Each module lists its cases; a case is data with a name.

use libtest_mimic::{Arguments, Trial};

fn main() {
    let trials: Vec<Trial> = Vec::new();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
