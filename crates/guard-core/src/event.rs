//! Events that a guard reports.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use toolbond_contract::{Action, Finding, Severity};

use crate::message::Id;

/// Something that a guard reports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A finding about a tool, its arguments or its result.
    Finding(Finding),
    /// Findings about the arguments or the result of one call.
    Call {
        /// The findings.
        findings: Vec<Finding>,
        /// The call.
        source: CallSource,
    },
    /// What happens to a message or a list, in one line, for those who asked for details.
    Detail(String),
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

/// The call that something is about, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSource {
    /// The id of its request.
    pub id: Option<Id>,
    /// What its client calls itself.
    pub client: Option<Arc<str>>,
}

/// The most characters of the name of a client, and of an id, that are shown.
const MAX_SHOWN: usize = 64;

impl CallSource {
    /// The id of its request as JSON.
    #[must_use]
    pub fn shown_id(&self) -> Option<String> {
        Some(self.id.as_ref()?.to_string().chars().take(MAX_SHOWN).collect())
    }

    /// What its client calls itself.
    #[must_use]
    pub fn shown_client(&self) -> Option<String> {
        Some(self.client.as_ref()?.chars().take(MAX_SHOWN).collect())
    }
}

/// In parentheses, after a message; nothing where nothing is known.
impl fmt::Display for CallSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.shown_id(), self.shown_client()) {
            (Some(id), Some(client)) => write!(f, " (request {id} of {client})"),
            (Some(id), None) => write!(f, " (request {id})"),
            (None, Some(client)) => write!(f, " (a request of {client})"),
            (None, None) => Ok(()),
        }
    }
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

    /// How severe it is; `None` for details.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        match self {
            Self::Finding(finding) => Some(finding.severity),
            Self::Call { findings, .. } => findings.iter().map(|finding| finding.severity).max(),
            Self::Notice { severity, .. } => Some(*severity),
            Self::Detail(_) => None,
            Self::From { event, .. } => event.severity(),
        }
    }

    /// The event as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Finding(finding) => json!(finding),
            Self::Call { findings, source } => {
                let mut value = json!(findings.first());
                if findings.len() > 1 {
                    value["others"] = json!(findings.get(1..));
                }
                for (name, known) in
                    [("request", source.shown_id()), ("client", source.shown_client())]
                {
                    if let Some(known) = known {
                        value[name] = known.into();
                    }
                }
                value
            }
            Self::Detail(message) => json!({ "severity": "debug", "message": message }),
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
            Self::Call { findings, source } => {
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
                    Action::None => {}
                    action => write!(f, "; {action}")?,
                }
                source.fmt(f)
            }
            Self::Detail(message) => write!(f, "debug: {message}"),
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

    /// Whether it wants [`Event::Detail`]s.
    fn wants_details(&self) -> bool {
        false
    }
}

impl<F: Fn(Event) + Send + Sync> Listener for F {
    fn on_event(&self, event: Event) {
        self(event);
    }
}
