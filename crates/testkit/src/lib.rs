//! Suites and corpora for the tests.
