//! Bundling: named cases, the official suite, random documents, hostile ones.

mod cases;
mod flat;
mod hostile;
mod peers;
mod random;
mod suite;
mod world;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        cases::trials(),
        flat::trials(),
        hostile::trials(),
        peers::trials(),
        random::trials(),
        suite::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
