//! What the contract crate is held to. Each module lists its cases; a case is data with a name.

mod bundle;
mod dialect;
mod judge;
mod project;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> =
        [bundle::trials(), dialect::trials(), judge::trials(), project::trials()]
            .into_iter()
            .flatten()
            .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
