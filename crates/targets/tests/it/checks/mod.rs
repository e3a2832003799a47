//! The rules of good practice: their cases, and schemas that are meant to do harm.

mod cases;
mod hostile;

pub(crate) use cases::read;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [cases::trials(), hostile::trials()].into_iter().flatten().collect()
}
