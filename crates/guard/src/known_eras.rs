//! Which eras of the protocol a server is known to speak.

use std::sync::atomic::{AtomicU8, Ordering};

/// The eras that a server is known to speak.
#[derive(Debug, Default)]
pub(crate) struct KnownEras(AtomicU8);

const SPEAKS_LEGACY: u8 = 1;
const SPEAKS_MODERN: u8 = 2;
const ONLY: u8 = 4;

impl KnownEras {
    /// Whether the server is known to speak only legacy revisions.
    pub(crate) fn is_legacy_only(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SPEAKS_LEGACY | ONLY
    }

    /// Whether the server is known to speak only modern revisions.
    pub(crate) fn is_modern_only(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SPEAKS_MODERN | ONLY
    }

    /// Whether the server is known to speak modern revisions.
    pub(crate) fn is_modern(&self) -> bool {
        self.0.load(Ordering::Relaxed) & SPEAKS_MODERN != 0
    }

    /// Whether the server is known to speak legacy revisions.
    pub(crate) fn is_legacy(&self) -> bool {
        self.0.load(Ordering::Relaxed) & SPEAKS_LEGACY != 0
    }

    pub(crate) fn set_modern(&self) {
        self.add(SPEAKS_MODERN);
    }

    pub(crate) fn set_legacy(&self) {
        self.add(SPEAKS_LEGACY);
    }

    fn add(&self, era: u8) {
        let add = |known: u8| Some((known & !ONLY) | era);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    pub(crate) fn set_modern_only(&self) {
        self.0.store(SPEAKS_MODERN | ONLY, Ordering::Relaxed);
    }

    pub(crate) fn set_legacy_only(&self) {
        self.0.store(SPEAKS_LEGACY | ONLY, Ordering::Relaxed);
    }

    /// Forgets what is known, because it turned out to be wrong.
    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
