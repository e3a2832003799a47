//! What a guard reports to: its log, and what it exports.

use std::sync::Arc;

use toolbond_contract::Severity;
use toolbond_guard::{Event, Listener, LogExport, Telemetry};

use crate::log::{Log, LogOptions};

/// The log of a guard, and what it exports.
pub(crate) struct Observability {
    pub(crate) log: Log,
    /// Where traces, metrics and logs go, if the environment asks for that.
    pub(crate) telemetry: Option<Telemetry>,
}

impl Observability {
    /// Opens the log, and exports as the variables of OpenTelemetry say.
    ///
    /// Fails if the file of the log cannot be opened.
    pub(crate) fn open(options: &LogOptions) -> anyhow::Result<Self> {
        let log = Log::open(options)?;
        let own = log.clone();
        let report = move |text| own.on_event(Event::notice(Severity::Warning, text));
        let telemetry = Telemetry::from_env("toolbond", Arc::new(report));
        Ok(Self { log, telemetry })
    }

    /// What listens to the events of `server`, or of several.
    pub(crate) fn listener(&self, server: Option<&str>) -> Arc<dyn Listener> {
        let log = Arc::new(self.log.clone());
        match &self.telemetry {
            Some(telemetry) => {
                Arc::new(LogExport::new(telemetry.clone(), server.map(str::to_owned), log))
            }
            None => log,
        }
    }

    /// Exports and writes what is left, for a few seconds at most.
    pub(crate) fn close(&self) {
        if let Some(telemetry) = &self.telemetry {
            telemetry.shutdown();
        }
        self.log.close();
    }
}
