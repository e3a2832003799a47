//! The events of a guard as log records.

use std::sync::Arc;

use toolbond_telemetry::{Record, Telemetry};

use toolbond_guard_core::event::{Event, Listener};

/// Exports the events of a guard, and passes them on.
pub struct LogExport {
    telemetry: Telemetry,
    server: Option<String>,
    next: Arc<dyn Listener>,
}

impl LogExport {
    /// Exports to `telemetry`, and passes on to `next`. Events that name no server are about `server`.
    pub fn new(telemetry: Telemetry, server: Option<String>, next: Arc<dyn Listener>) -> Self {
        // The query of a URL may be secret.
        let server = server.and_then(|name| Some(name.split('?').next()?.to_owned()));
        Self { telemetry, server, next }
    }

    fn export(&self, server: Option<&str>, event: &Event) {
        match event {
            Event::Finding(finding) => self.telemetry.log(server, Record::Finding(finding)),
            Event::Call { findings, .. } => {
                for finding in findings {
                    self.telemetry.log(server, Record::Finding(finding));
                }
            }
            Event::Notice { severity, message, unquoted } => {
                let text = unquoted.as_ref().unwrap_or(message);
                self.telemetry.log(server, Record::Notice(*severity, text));
            }
            Event::From { server, event } => self.export(Some(server), event),
            _ => {}
        }
    }
}

impl Listener for LogExport {
    fn on_event(&self, event: Event) {
        self.export(self.server.as_deref(), &event);
        self.next.on_event(event);
    }

    fn wants_details(&self) -> bool {
        self.next.wants_details()
    }
}
