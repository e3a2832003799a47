//! The rules of good practice: their cases, their pages, and schemas that are meant to do harm.

mod cases;
mod hostile;
mod pages;

pub(crate) use cases::read;

use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    [cases::trials(), pages::trials(), hostile::trials()].into_iter().flatten().collect()
}
