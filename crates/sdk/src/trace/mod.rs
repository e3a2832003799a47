//! Spans of calls: with the feature `otel`, what runs as part of a call finds its span here. Without it, nothing is done.

#[cfg(not(feature = "otel"))]
mod off;
#[cfg(feature = "otel")]
mod on;

#[cfg(not(feature = "otel"))]
pub(crate) use off::*;
#[cfg(feature = "otel")]
pub use on::export_from_env;
#[cfg(feature = "otel")]
pub(crate) use on::*;
