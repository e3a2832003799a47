//! Projecting and lifting: the official suite, a draft-07 reader, the seeds, the corpus, and
//! arbitrary JSON.

mod ajv;
mod arbitrary;
mod cases;
mod corpus;
pub(crate) mod official;
pub(crate) mod random;
pub(crate) mod reader;
mod suite;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        cases::trials(),
        suite::trials(),
        ajv::trials(),
        corpus::trials(),
        arbitrary::trials(),
        random::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
