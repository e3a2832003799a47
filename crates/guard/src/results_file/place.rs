//! Where the guard remembers what it learned.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::content::VERSION;

/// Where the guard remembers what it learned: a path, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultsPlace {
    /// Nowhere.
    Nowhere,
    /// In this file.
    File(PathBuf),
}

impl ResultsPlace {
    /// The file in the cache folder of the user; nowhere if there is no such folder.
    #[must_use]
    pub fn in_cache() -> Self {
        toolbond_fetch::cache_folder().map_or(Self::Nowhere, |folder| {
            Self::File(folder.join(format!("results-{VERSION}.json")))
        })
    }

    /// The file, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::File(path) => Some(path),
        }
    }

    /// The same, where a relative path starts at `folder`.
    pub(crate) fn within(self, folder: &Path) -> Self {
        match self {
            Self::Nowhere => self,
            Self::File(path) => Self::File(folder.join(path)),
        }
    }
}

impl FromStr for ResultsPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "none" { Self::Nowhere } else { Self::File(text.into()) })
    }
}

impl<'de> Deserialize<'de> for ResultsPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|never: Infallible| match never {})
    }
}
