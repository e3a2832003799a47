//! Where findings go: to the log, and to whoever asked for them.

use std::{error::Error, sync::Arc};

use toolpact_contract::{Finding, Severity};

/// A listener for findings.
pub(crate) type Listener = Arc<dyn Fn(&Finding) + Send + Sync>;

/// Hands `findings` to the log and to `listener`.
pub(crate) fn report(findings: &[Finding], listener: Option<&Listener>) {
    for finding in findings {
        match finding.severity {
            Severity::Error => tracing::error!(target: "toolpact", "{finding}"),
            Severity::Warning => tracing::warn!(target: "toolpact", "{finding}"),
            Severity::Info => tracing::info!(target: "toolpact", "{finding}"),
        }
        if let Some(listener) = listener {
            listener(finding);
        }
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
