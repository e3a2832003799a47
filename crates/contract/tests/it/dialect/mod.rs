//! Converting to 2020-12: the official suite read by us and by Ajv, the corpus, named cases, random schemas.

mod cases;
mod corpus;
mod random;
mod suite;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [cases::trials(), corpus::trials(), random::trials(), suite::trials()]
        .into_iter()
        .flatten()
        .collect()
}
