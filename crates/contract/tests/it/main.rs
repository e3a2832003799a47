//! What the contract crate is held to. Each module lists its cases; a case is data with a name.

mod bundle;
mod dialect;
mod judge;
mod project;

use libtest_mimic::{Arguments, Trial};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Runs a property on `cases` random values, the same in every run.
fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng)
}

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> =
        [bundle::trials(), dialect::trials(), judge::trials(), project::trials()]
            .into_iter()
            .flatten()
            .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
