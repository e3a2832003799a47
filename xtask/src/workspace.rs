//! Places in the repository.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What the tests need and the repository does not hold. `toolbond-testkit` looks here.
pub(crate) fn testkit() -> PathBuf {
    root().join("target").join("testkit")
}
