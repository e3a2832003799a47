//! What the schema crate is held to. Each module lists its cases; a case is data with a name.

mod bounds;
mod corpus;
mod equivalence;
mod hostile;
mod instances;
mod memory;
mod messages;
mod random;
mod running;
mod suite;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = [
        suite::trials(),
        equivalence::trials(),
        corpus::trials(),
        random::trials(),
        hostile::trials(),
        messages::trials(),
        running::trials(),
        bounds::trials(),
        instances::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
