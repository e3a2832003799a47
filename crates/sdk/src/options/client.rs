//! Options of a client.

use std::time::Duration;

use super::checks::{Checks, check_setters};

/// How long a client waits for an answer by default.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Options for [`Client::connect_with`](crate::Client::connect_with).
///
/// ```
/// use std::time::Duration;
/// use toolbond::{ClientOptions, Mode};
///
/// let options = ClientOptions::default().timeout(Duration::from_secs(5)).results(Mode::Warn);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ClientOptions {
    pub(crate) checks: Checks,
    pub(crate) timeout: Duration,
}

/// Repairs tools, enforces arguments and results, waits 60 seconds for an answer.
impl Default for ClientOptions {
    fn default() -> Self {
        Self { checks: Checks::default(), timeout: TIMEOUT }
    }
}

impl ClientOptions {
    check_setters!();

    /// Sets how long to wait for each answer of the server. The time that the server spends asking this client for
    /// input counts. A request that takes longer is cancelled.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }
}
