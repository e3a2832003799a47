//! What a guard has to say.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use toolpact_contract::{Finding, Severity};

/// One thing a guard has to say.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// About a tool, its arguments or its result.
    Finding(Finding),
    /// About the connection.
    Notice {
        /// How bad it is.
        severity: Severity,
        /// What happened, in one line.
        message: String,
    },
    /// About one of several servers.
    Of {
        /// What its operator calls it.
        server: Arc<str>,
        /// What there is to say.
        event: Box<Event>,
    },
}

impl Event {
    pub(crate) fn info(message: impl Into<String>) -> Self {
        Self::Notice { severity: Severity::Info, message: message.into() }
    }

    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self::Notice { severity: Severity::Warning, message: message.into() }
    }

    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::Notice { severity: Severity::Error, message: message.into() }
    }

    /// The event as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Finding(finding) => json!(finding),
            Self::Notice { severity, message } => {
                json!({ "severity": severity, "message": message })
            }
            Self::Of { server, event } => {
                let mut value = event.to_json();
                value["server"] = Value::from(&**server);
                value
            }
        }
    }
}

/// One line; what others wrote is in it as it came, control characters included.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding(finding) => finding.fmt(f),
            Self::Notice { severity, message } => write!(f, "{severity}: {message}"),
            Self::Of { server, event } => write!(f, "{server}: {event}"),
        }
    }
}

/// Where a guard says what it has to say.
///
/// Called from the path of messages: an implementation must not block.
pub trait Listener: Send + Sync {
    /// Takes one event.
    fn hear(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Listener for F {
    fn hear(&self, event: Event) {
        self(event);
    }
}
