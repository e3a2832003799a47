//! What the targets crate is held to. Each module lists its cases; a case is data with a name.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod agreement;
mod checks;
mod converters;
mod docs;
mod fixes;
mod hostile_views;
mod pages;
mod survive;
mod views;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let trials: Vec<Trial> = [
        agreement::trials(),
        checks::trials(),
        docs::trials(),
        fixes::trials(),
        hostile_views::trials(),
        pages::trials(),
        survive::trials(),
        views::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
