//! Benchmarks against peers.
