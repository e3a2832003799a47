//! Suites and corpora for the tests, and the peer to compare with.
//!
//! Nothing here is part of Toolbond: what is here only holds it to account.

pub mod conformance;
pub mod corpus;
pub mod embedded;
pub mod generate;
pub mod hostile;
pub mod plain;
pub mod suite;
