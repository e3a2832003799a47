//! Log records.

use opentelemetry::KeyValue;
use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, Severity as Level};
use toolbond_contract::{Finding, Severity};

use crate::attribute::{self, MAX_MESSAGE, MAX_NAME, shorten};
use crate::span::finding_attributes;
use crate::telemetry::Telemetry;

/// A log record.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A finding. The value that was found is not exported.
    Finding(&'a Finding),
    /// Anything else, in one line.
    Notice(Severity, &'a str),
}

impl Telemetry {
    /// Exports `record`, which is about `server`. It belongs to the current span, if there is one.
    pub fn log(&self, server: Option<&str>, record: Record<'_>) {
        let Some(logger) = self.logger() else { return };
        let mut log = logger.create_log_record();
        let (severity, text) = match record {
            Record::Finding(finding) => {
                let plain: Vec<KeyValue> = finding_attributes(finding);
                log.add_attributes(
                    plain.into_iter().map(|it| (it.key, AnyValue::from(it.value.to_string()))),
                );
                if let Some(tool) = &finding.tool {
                    log.add_attribute(attribute::TOOL, shorten(tool, MAX_NAME));
                }
                log.set_event_name("toolbond.finding");
                (finding.severity, finding.message.as_str())
            }
            Record::Notice(severity, text) => {
                log.set_event_name("toolbond.notice");
                (severity, text)
            }
        };
        let (level, name) = match severity {
            Severity::Info => (Level::Info, "INFO"),
            Severity::Warning => (Level::Warn, "WARN"),
            Severity::Error => (Level::Error, "ERROR"),
        };
        log.set_severity_number(level);
        log.set_severity_text(name);
        log.set_body(shorten(text, MAX_MESSAGE).into());
        if let Some(server) = server {
            log.add_attribute(attribute::SERVER, server.to_owned());
        }
        logger.emit(log);
    }
}
