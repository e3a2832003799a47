//! Events that a guard reports.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use toolbond_contract::{Action, Finding, Severity};

/// Something that a guard reports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A finding about a tool, its arguments or its result.
    Finding(Finding),
    /// Several findings about the arguments or the result of one call.
    Call(Vec<Finding>),
    /// A notice about a connection, a message or a list as a whole.
    Notice {
        /// How severe it is.
        severity: Severity,
        /// What happened, in one line.
        message: String,
        /// The same without what the message quotes of a peer, where it quotes something.
        unquoted: Option<String>,
    },
    /// An event of one of several servers.
    From {
        /// The name of the server in the configuration.
        server: Arc<str>,
        /// The event.
        event: Box<Event>,
    },
}

impl Event {
    pub fn info(message: impl Into<String>) -> Self {
        Self::notice(Severity::Info, message)
    }

    pub fn warning(message: impl Into<String>) -> Self {
        Self::notice(Severity::Warning, message)
    }

    pub fn error(message: impl Into<String>) -> Self {
        Self::notice(Severity::Error, message)
    }

    /// A notice that quotes nothing of a peer.
    pub fn notice(severity: Severity, message: impl Into<String>) -> Self {
        Self::Notice { severity, message: message.into(), unquoted: None }
    }

    /// The same event, whose message quotes a peer: `text` is what it says without that.
    pub fn or_unquoted(mut self, text: impl Into<String>) -> Self {
        if let Self::Notice { unquoted, .. } = &mut self {
            *unquoted = Some(text.into());
        }
        self
    }

    /// The event as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Finding(finding) => json!(finding),
            Self::Call(findings) => {
                let mut value = json!(findings.first());
                value["others"] = json!(findings.get(1..));
                value
            }
            Self::Notice { severity, message, .. } => {
                json!({ "severity": severity, "message": message })
            }
            Self::From { server, event } => {
                let mut value = event.to_json();
                value["server"] = Value::from(&**server);
                value
            }
        }
    }
}

/// One line. Text from peers is not escaped, control characters included.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding(finding) => finding.fmt(f),
            Self::Call(findings) => {
                let action = findings.first().map_or(Action::None, |finding| finding.action);
                for (index, finding) in findings.iter().enumerate() {
                    match index {
                        0 => finding.clone().action(Action::None).fmt(f)?,
                        _ if finding.rule == findings[0].rule => {
                            write!(f, "; {}: {}", finding.pointer, finding.message)?;
                        }
                        _ => write!(
                            f,
                            "; [{}] {}: {}",
                            finding.rule, finding.pointer, finding.message
                        )?,
                    }
                }
                match action {
                    Action::None => Ok(()),
                    action => write!(f, "; {action}"),
                }
            }
            Self::Notice { severity, message, .. } => write!(f, "{severity}: {message}"),
            Self::From { server, event } => write!(f, "{server}: {event}"),
        }
    }
}

/// Receives the events of a guard.
///
/// The guard calls it between messages, so an implementation must not block.
pub trait Listener: Send + Sync {
    /// Receives one event.
    fn on_event(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> Listener for F {
    fn on_event(&self, event: Event) {
        self(event);
    }
}
