//! Views of tools: with the feature `targets`, clients get tools in the form that a target accepts.

#[cfg(not(feature = "targets"))]
mod off;
#[cfg(feature = "targets")]
mod on;

#[cfg(not(feature = "targets"))]
pub(crate) use off::*;
#[cfg(feature = "targets")]
pub(crate) use on::*;
