//! A server for unit tests.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::environment::{Environment, Record};
use crate::event::Event;
use crate::server::Server;
use crate::settings::Settings;
use crate::tool_cache::Shelf;

/// An environment that keeps what is reported.
struct Quiet(Instant, Said);

/// What was reported.
pub(crate) type Said = Arc<Mutex<Vec<String>>>;

impl Environment for Quiet {
    fn now(&self) -> Instant {
        self.0
    }

    fn random(&self) -> Option<u128> {
        use std::hash::{BuildHasher as _, RandomState};
        Some(u128::from(RandomState::new().hash_one(0)))
    }

    fn report(&self, event: Event) {
        self.1.lock().unwrap().push(event.to_string());
    }

    fn record(&self, _: &Record<'_>) {}
}

/// Now.
#[expect(clippy::disallowed_methods, reason = "a test has to begin at some time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A server under `settings`.
pub(crate) fn server(settings: Settings) -> Server {
    server_within(settings, 256 << 20)
}

/// A server whose compiled tools may take so many bytes.
pub(crate) fn server_within(settings: Settings, bytes: usize) -> Server {
    let quiet = Quiet(now(), Said::default());
    Server::new(settings, None, Arc::new(Shelf::new(bytes)), Arc::new(quiet))
}

/// A server, and what it reports.
pub(crate) fn listened(settings: Settings) -> (Server, Said) {
    let said = Said::default();
    let quiet = Quiet(now(), Arc::clone(&said));
    (Server::new(settings, None, Arc::new(Shelf::new(1 << 20)), Arc::new(quiet)), said)
}
