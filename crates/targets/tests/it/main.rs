//! What the targets crate is held to. Each module lists its cases; a case is data with a name.

mod agreement;
mod checks;
mod converters;
mod fixes;
mod survive;
mod views;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let trials: Vec<Trial> = [
        agreement::trials(),
        checks::trials(),
        fixes::trials(),
        survive::trials(),
        views::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
