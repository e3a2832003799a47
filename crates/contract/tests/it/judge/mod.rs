//! Judging: schemas, tool lists, calls, the corpus, and arbitrary JSON.

mod arbitrary;
mod calls;
mod cases;
mod corpus;
mod lists;
mod pages;
mod repaired;
mod schemas;
mod tools;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [
        schemas::trials(),
        tools::trials(),
        lists::trials(),
        calls::trials(),
        pages::trials(),
        repaired::trials(),
        corpus::trials(),
        arbitrary::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
