//! Which eras of the protocol a server is known to speak.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock;

/// The eras that a server is known to speak. What a server does not speak is found out again now and then: one wrong
/// answer must not count for ever.
#[derive(Debug, Default)]
pub(crate) struct KnownEras(Mutex<Known>);

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    eras: u8,
    /// Until when it counts; `None` for ever.
    until: Option<Instant>,
}

const SPEAKS_LEGACY: u8 = 1;
const SPEAKS_MODERN: u8 = 2;
const ONLY: u8 = 4;

/// How long a server counts as one of a single era.
const ONLY_FOR: Duration = Duration::from_secs(600);

impl KnownEras {
    fn load(&self) -> u8 {
        let mut known = lock(&self.0);
        if known.until.is_some_and(|until| until <= Instant::now()) {
            *known = Known::default();
        }
        known.eras
    }

    fn store(&self, eras: u8, time: Option<Duration>) {
        let until = time.map(|time| Instant::now() + time);
        *lock(&self.0) = Known { eras, until };
    }

    /// Whether the server is known to speak only legacy revisions.
    pub(crate) fn is_legacy_only(&self) -> bool {
        self.load() == SPEAKS_LEGACY | ONLY
    }

    /// Whether the server is known to speak only modern revisions.
    pub(crate) fn is_modern_only(&self) -> bool {
        self.load() == SPEAKS_MODERN | ONLY
    }

    /// Whether the server is known to speak modern revisions.
    pub(crate) fn is_modern(&self) -> bool {
        self.load() & SPEAKS_MODERN != 0
    }

    /// Whether the server is known to speak legacy revisions.
    pub(crate) fn is_legacy(&self) -> bool {
        self.load() & SPEAKS_LEGACY != 0
    }

    pub(crate) fn set_modern(&self) {
        self.store((self.load() & !ONLY) | SPEAKS_MODERN, None);
    }

    pub(crate) fn set_legacy(&self) {
        self.store((self.load() & !ONLY) | SPEAKS_LEGACY, None);
    }

    pub(crate) fn set_modern_only(&self) {
        self.store(SPEAKS_MODERN | ONLY, Some(ONLY_FOR));
    }

    pub(crate) fn set_legacy_only(&self) {
        self.store(SPEAKS_LEGACY | ONLY, Some(ONLY_FOR));
    }

    /// Forgets what is known, because it turned out to be wrong.
    pub(crate) fn forget(&self) {
        self.store(0, None);
    }
}
