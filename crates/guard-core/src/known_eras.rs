//! Which eras of the protocol a server is known to speak.

use std::sync::atomic::{AtomicU8, Ordering};

/// The eras that a server is known to speak, for as long as the guard runs or until it turns out to be wrong.
#[derive(Debug, Default)]
pub struct KnownEras(AtomicU8);

const SPEAKS_LEGACY: u8 = 1;
const SPEAKS_MODERN: u8 = 2;
const ONLY: u8 = 4;

impl KnownEras {
    fn load(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    fn store(&self, eras: u8) {
        self.0.store(eras, Ordering::Relaxed);
    }

    /// Whether the server is known to speak only legacy revisions.
    pub fn is_legacy_only(&self) -> bool {
        self.load() == SPEAKS_LEGACY | ONLY
    }

    /// Whether the server is known to speak only modern revisions.
    pub fn is_modern_only(&self) -> bool {
        self.load() == SPEAKS_MODERN | ONLY
    }

    /// Whether the server is known to speak modern revisions.
    pub fn is_modern(&self) -> bool {
        self.load() & SPEAKS_MODERN != 0
    }

    /// Whether the server is known to speak legacy revisions.
    pub fn is_legacy(&self) -> bool {
        self.load() & SPEAKS_LEGACY != 0
    }

    pub fn set_modern(&self) {
        self.store((self.load() & !ONLY) | SPEAKS_MODERN);
    }

    pub fn set_legacy(&self) {
        self.store((self.load() & !ONLY) | SPEAKS_LEGACY);
    }

    pub fn set_modern_only(&self) {
        self.store(SPEAKS_MODERN | ONLY);
    }

    pub fn set_legacy_only(&self) {
        self.store(SPEAKS_LEGACY | ONLY);
    }

    /// Forgets what is known, because it turned out to be wrong.
    pub fn forget(&self) {
        self.store(0);
    }
}
