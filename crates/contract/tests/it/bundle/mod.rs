//! Bundling: named cases, the official suite, random documents, hostile ones.

mod cases;
mod suite;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [cases::trials(), suite::trials()].into_iter().flatten().collect()
}
